// The interface to fault injection in this process's sandbox, which simulates the providers.
import type { SandboxFault } from "../../../contract/admin/sandbox-faults.ts";

export interface SandboxLevers {
  readonly read: () => readonly SandboxFault[];
  readonly replace: (faults: readonly SandboxFault[]) => void;
}
