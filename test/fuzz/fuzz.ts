// What every fuzz property is: something to open, a property that must hold for whatever it is fed, something to close.
import type { IAsyncProperty, IProperty } from "fast-check";

export interface OpenedFuzz {
  readonly property: IAsyncProperty<unknown> | IProperty<unknown>;
  readonly close: () => Promise<void>;
}

export interface Fuzz {
  readonly about: string;
  /** Of the suite's short run. */
  readonly shortRuns: number;
  readonly open: () => Promise<OpenedFuzz>;
}
