"""A figure of stacks as a user types it: a sweep, its table and its claims; a table that shares its runs."""


def test_a_sweep_of_stacks_ends_with_the_papers_table_and_another_table_shares_its_runs(smoke):
    code, said = smoke.run("experiment=tbr/fig4", "data.S=1", "trainer=cpu")
    assert code == 0, said
    results = sorted((smoke.outputs / "smoke" / "tbr").glob("[!.]*/result.json"))
    names = [path.parent.name.rpartition("-")[0] for path in results]
    assert names == ["treesimulation-baseline-S1-seeds0to1", "treesimulation-tbr-S1-seeds0to1"]
    assert "0.98 ± 0.03" in said
    assert "TBR almost fully disentangles at S = 1." in said
    assert {path.name for path in results[1].parent.glob("figures/*.png")} == {"correlations.png", "deltas.png"}

    made = [path.stat().st_mtime_ns for path in results]
    code, said = smoke.run("experiment=tbr/table3", "trainer=cpu")
    assert code == 0, said
    assert "1.51 ± 1.8" in said
    assert [path.stat().st_mtime_ns for path in results] == made
