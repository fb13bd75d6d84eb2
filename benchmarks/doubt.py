"""Does `cite` doubt where it should? Run: python benchmarks/doubt.py [LIBRARY].

Claims on topics that the demo's articles know nothing of, from other fields and from theirs, and claims that they know.
Without a library, the articles are added to a new one.
"""

import sys
import tempfile
from pathlib import Path

from whycite.cite.fit import nothing_fits
from whycite.cite.recommendations import Claim, answer_fits, load_method
from whycite.demo import articles
from whycite.library import Library, add

OTHER_FIELDS = """\
The collapse of the Bronze Age palace economies was hastened by drought in the eastern Mediterranean.
Minimum wage increases have little effect on employment in fast-food restaurants.
Baroque composers used figured bass to notate harmonic accompaniment.
Superconductivity in cuprates survives above the temperature of liquid nitrogen.
Judicial review by constitutional courts strengthens the protection of minorities.
Reinforced concrete beams fail in shear when stirrups are spaced too widely.
The Riemann zeta function has infinitely many zeros on the critical line.
Shakespeare wrote his last plays together with John Fletcher.
Central bank independence is associated with lower inflation.
Compilers use register allocation by graph colouring to reduce memory traffic.
Gothic cathedrals rely on flying buttresses to carry the thrust of their vaults.
Perovskite solar cells lose efficiency when exposed to moisture.
Dark matter halos follow a universal density profile in simulations.
Sailors of the Hanseatic League traded herring and salt across the Baltic.
Students who receive written feedback improve their essays more than those who receive grades.
Blockchain consensus protocols consume large amounts of electricity.
Sign languages have a grammar of their own that differs from the spoken language around them.
Vinyl records are preferred by collectors because of their warm sound.
Transformer language models scale predictably with the amount of training text.
Tax evasion falls when employers report wages directly to the authorities.
""".splitlines()
OTHER_TOPICS = """\
Statins reduce the incidence of myocardial infarction in people with high cholesterol.
Honeybees communicate the direction of food sources by a waggle dance.
Breastfeeding lowers the risk of asthma in infants.
Vitamin D supplementation does not prevent falls in older adults.
Dopamine neurons encode reward prediction errors.
Songbirds learn their songs from tutors during a critical period.
CRISPR nucleases can be guided to almost any place in a genome.
Insulin resistance precedes type 2 diabetes by many years.
Omega-3 fatty acids do not prevent cardiovascular events.
Salamanders regenerate entire limbs after amputation.
Sleep spindles support the consolidation of declarative memories.
Zebrafish hearts regenerate through proliferation of existing cardiomyocytes.
Migratory birds sense the magnetic field of the earth with their eyes.
Physical exercise after hip fracture improves mobility.
Antidepressants cause weight gain in the long term.
Octopuses can open jars by observing others.
Bats carry coronaviruses related to those of humans.
Cataract surgery reduces the risk of car accidents.
Kidney stones are more frequent in hot climates.
Caffeine improves reaction time after a night without sleep.
""".splitlines()
KNOWN = """\
Most claimed research findings are more likely to be false than true.
XMRV was found in patients with chronic fatigue syndrome.
Antonio Stradivari's violins may owe their sound to the density of their wood.
Greenhouse gas emissions must be reduced to limit global warming.
Rituximab improves symptoms in some patients with chronic fatigue syndrome.
Mycobacteriophages are highly diverse and have mosaic genomes.
Malaria parasites invade red blood cells through several redundant ligands.
Schistosomiasis is diagnosed from eggs in stool by the Kato-Katz method.
Minors can buy cigarettes although the law forbids sales to them.
Multidrug-resistant tuberculosis requires long treatment with second-line drugs.
Neglected tropical diseases affect the poor in wealthy countries, too.
HIV viral load should be monitored in patients on antiretroviral therapy.
Onion routing provides anonymous communication over the internet.
BRCA1 regulates the polarity of mammary epithelial cells.
Systematic reviews should report a flow diagram of the studies they include.
Ciliates rearrange their genomes during the development of the macronucleus.
Mentalizing deficits are characteristic of autism.
Diffusion MRI tractography reconstructs white matter tracts.
Dissolved organic carbon in lakes has increased in boreal regions.
The gammaretrovirus was detected in prostate tumours of patients with an RNASEL variant.
""".splitlines()


def measure(library: Library) -> None:
    """Print how many claims of each kind get a confident answer, and which of the unknown ones do."""
    method = load_method("whycite", library)
    for name, claims in (("other fields", OTHER_FIELDS), ("other topics", OTHER_TOPICS), ("known", KNOWN)):
        answers = {claim: method.recommend(Claim(claim), 3) for claim in claims}
        confident = [claim for claim, answer in answers.items() if not nothing_fits(answer_fits(answer))]
        print(f"{name}: {len(confident)} of {len(claims)} with a confident answer")
        for claim in confident if name != "known" else ():
            print(f"  {claim} -> {answers[claim][0].paper.title}")


def main() -> None:
    if len(sys.argv) > 1:
        measure(Library.open(sys.argv[1]))
        return
    with tempfile.TemporaryDirectory() as folder:
        add(Path(folder) / "library", articles())
        measure(Library.open(Path(folder) / "library"))


if __name__ == "__main__":
    main()
