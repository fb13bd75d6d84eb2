"""A manuscript and two small papers that it cites, as a reviewer has them; a third paper is missing."""

MANUSCRIPT = """---
title: A note on whales and bees
references:
- {id: domenici, title: "Killer whales feeding on schooling herring using tail-slaps", issued: 2000}
- {id: martin, title: "Global honey bee viral landscape altered by a parasitic mite", issued: 2012}
- {id: tarpy, title: "Genetic diversity within honeybee colonies prevents severe infections", issued: 2003,
   DOI: "10.1098/rspb.2002.2199"}
---
# Introduction
Killer whales stun herring with blows of their tails [@domenici]. The mite Varroa lowered the prevalence of deformed
wing virus [@martin]. Queens that mate with many drones have healthier colonies [@tarpy].
Previous studies have shown that orcas live in groups led by old females.
"""
WHALES = """---
title: Killer whales feeding on schooling herring using tail-slaps
date: 2000
---
# Results
We filmed killer whales off northern Norway. Killer whales stunned herring with blows of their tails. The whales ate
the stunned fish one by one.
"""
BEES = """---
title: Global honey bee viral landscape altered by a parasitic mite
date: 2012
---
# Results
We sampled colonies on the islands of Hawaii. The mite Varroa increased the prevalence of deformed wing virus from
about 10% to 100%. Viral diversity fell after the mite arrived.
"""
DRONES = """---
title: Genetic diversity within honeybee colonies prevents severe infections
date: 2003
---
# Results
Colonies whose queens had mated with many drones had fewer severe infections and were healthier.
"""
