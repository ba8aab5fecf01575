// Why a model cannot be pulled, imported, checked or removed, for people: the message names the thing and the limit, the hints say what to do.

/**
 * `refused`: by the configuration. `unknown`: no such model. `network`: the host cannot be reached, or refuses. `mismatch`: the content is not what the manifest
 * names. `archive`: the archive is damaged or not allowed. `disk`: it cannot be stored.
 */
export type ModelFaultKind = "refused" | "unknown" | "network" | "mismatch" | "archive" | "disk";

export class ModelFault extends Error {
  override readonly name = "ModelFault";
  readonly kind: ModelFaultKind;
  readonly hints: readonly string[];

  constructor(kind: ModelFaultKind, message: string, hints: readonly string[] = []) {
    super(message);
    this.kind = kind;
    this.hints = hints;
  }
}
