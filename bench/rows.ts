// A row of the overview: one contender's result for a workload, relative to the bare forwarder.
import { BARE, type Contender, type Figures, figuresOf, type Round } from "./upstream/contenders.ts";
import { round } from "./measure/report.ts";

export interface Row extends Figures {
  readonly workload: string;
  readonly name: string;
  readonly ratio: number;
  readonly bytesPerUpload: number | null;
}

export function rowsOf(
  workload: string,
  results: readonly { readonly contender: Contender; readonly rounds: readonly Round[] }[],
): readonly Row[] {
  const figures = results.map(({ contender, rounds }) => ({ name: contender.name, ...figuresOf(rounds) }));
  const bare = figures.find(({ name }) => name === BARE)?.perSecond ?? Number.NaN;
  return figures.map((each) => ({
    workload,
    ...each,
    ratio: round(each.perSecond / bare, 2),
    bytesPerUpload: null,
  }));
}
