"""Words that sentence splitting has to know: abbreviations of scientific prose, and words that begin sentences."""

from __future__ import annotations

__all__ = ["ABBREVIATIONS", "BEFORE_LOWER", "NEVER_LAST", "STARTERS"]

# Nothing ends with these: a name, a label or an explanation follows.
NEVER_LAST = frozenset(
    """
    e.g i.e eg cf vs viz ca approx c.f a.k.a i.i.d w.r.t s.t
    dr drs prof profs mr mrs messrs mme rev sen gov capt lt sgt st ste mt
    fig figs eq eqs eqn eqns ref refs vol vols pp thm thms lem suppl supp ext alg chap chaps ch sect sects tbl
    """.split()
)

# These may end a sentence: they do before a word of STARTERS.
ABBREVIATIONS = NEVER_LAST | frozenset(
    """
    sec secs tabs appx cor defn algo exx no nos nr pts p n.b n.d eds edn repr transl mlle op
    publ proc conf natl dept univ inst assoc soc lett ann bull j phys chem biol
    int'l intl inc ltd co corp llc bros jr sr esq ph.d m.d m.sc b.sc d.phil calif conn
    u.s u.k u.n e.u u.s.a d.c a.m p.m a.d b.c b.c.e c.e
    sp spp ssp subsp cv aff nov syn
    i.p i.v i.m i.n i.c.v s.c p.o b.i.d q.d t.i.d i.d o.d a.u r.p.m r.h s.d s.e s.e.m c.i d.f r.m.s f.w
    jan feb apr jun jul aug sept oct nov dec
    resp incl excl esp wrt pers commun unpubl priv circ et
    """.split()
)

# These end a sentence unless a word in lower case goes on: "for 5 min. The", but "min. value", "et al. found".
BEFORE_LOWER = ABBREVIATIONS | frozenset(
    """
    al etc tab app prop def ex para pt ed var str sci med math trans comm voc ver
    min max hr hrs h s sec ms mo mos wk wks yr yrs avg std dev temp conc wt equiv sim num dim deg lat long obs
    mol kg mg ml cm mm nm km lb lbs oz ft cat freq adj arb cyt stim diff corr coeff est vert horiz init norm rel abs
    """.split()
)

STARTERS = frozenset(
    """
    a an the this these those that it its we our they their he she his her i you your there here one both each all any
    some many most several such another other others no none not only few two three
    in on at by for from to with without within after before during when whenever while where whereas although though
    because since if as under over between among across through upon until unless unlike despite following
    however moreover furthermore additionally also thus therefore hence consequently accordingly then next finally
    first second third last lastly similarly likewise conversely notably importantly interestingly surprisingly
    strikingly remarkably indeed instead rather nevertheless nonetheless meanwhile subsequently specifically generally
    typically usually often recently previously currently initially alternatively briefly overall together taken
    collectively again even still yet but and or so nor thereby otherwise further given using based compared
    consistent according let note see what why how which who whose does do is are was were can could should
    """.split()
)
