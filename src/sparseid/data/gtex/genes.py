"""Genes of each source of cells: candidates for latents, and transcription factors as inputs."""

HOUSEKEEPING = ("C1orf43", "CHMP2A", "EMC7", "PSMB2", "PSMB4", "REEP5", "SNRPD3", "VCP", "VPS29")
"""Candidates for latents (TBR, Table 2): eleven of Eisenberg & Levanon 2013 without the two weakly regulated ones."""

PBMC_FACTORS = """
BBX EGR1 FLI1 FOS GATA2 GATA3 HES1 HES4 HHEX HMGA1 IRF1 IRF7 IRF8 JUNB KLF3 KLF6 LYL1 NFE2 POU2AF1 SOX4 SP100 SP110
SP140 SPI1 SPIB TSC22D1 ZNF22 ZNF511 ZNF524 ZNF600 ZNF710
"""
"""Transcription factors among the 765 genes of pbmc68k_reduced."""

PBMC_LATENTS = "CDK6 HPCAL1 DAAM1 CSK MAD1L1 CD74 HLA-DPB1 HLA-DMA HLA-DPA1"
"""Genes of pbmc68k_reduced that many of these regulate; six of the nine housekeeping genes are missing there."""

CELLTYPIST_FACTORS = """
ATF1 ATF2 ATF3 ATF4 BACH1 BBX BCL6 BHLHE40 BRD4 CEBPA CEBPB CEBPD CREB1 CREM CTCF EGR2 ELF1 ELK4 ETS1 ETV6 FLI1 FOSL2
FOXO3 FOXP1 HIF1A HMGA1 HSF1 ID2 ID3 IKZF1 IRF1 IRF2 IRF5 IRF7 IRF8 JUN JUNB JUND KLF13 KLF6 MAF MAFB MAFF MAX MAZ MBD4
MEF2A MXD1 MXI1 NFATC3 NFE2L2 NFKB1 NR3C1 PBX3 POU2F2 REL REST RXRA SP1 SP100 SP110 SP3 SPI1 SREBF2 STAT1 STAT2 STAT3
STAT6 TCF12 TSC22D1 USF2 XBP1 YY1 ZBTB7A ZEB2 ZNF511
"""
"""Well-known transcription factors expressed in at least 15 % of the 559 cells."""
