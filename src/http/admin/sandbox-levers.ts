// The fault levers of this process's sandbox.
import type { SandboxFault } from "../../contract/sandbox-faults.ts";

/** Of the sandbox in this process. */
export interface SandboxLevers {
  readonly read: () => readonly SandboxFault[];
  readonly replace: (faults: readonly SandboxFault[]) => void;
}
