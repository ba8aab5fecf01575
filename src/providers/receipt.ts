// A receipt: the proof that an answer has what was required of it, or which model it is by.
import type { Feature, ReceiptGrade } from "../contract/features.ts";

/** Evidence, per required feature, that it was delivered [providers.receipts]. `delivered: false` fails the target. */
export interface Receipt {
  readonly feature: Feature | "model" | "language";
  readonly grade: ReceiptGrade;
  readonly delivered: boolean;
  /** Of `model`: the name in the answer [providers.answered-model]. */
  readonly answered?: string;
  /** Of `model`: another one fails the target only if the route requires the exact one [routing.exact-model]. */
  readonly isTolerated?: true;
  /** Of `model`, for a model on this machine. */
  readonly model?: ReceivedModel;
}

/** The model that made a transcript: files, engine and processor determine the text. */
export interface ReceivedModel {
  readonly name: string;
  readonly files: readonly { readonly path: string; readonly sha256: string }[];
  /** Name and version. */
  readonly engine: string;
  /** Architecture and instruction sets. */
  readonly processor: string;
}
