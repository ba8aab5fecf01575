// Fault injection for the sandbox provider of this process.
import type { SandboxFault } from "../../contract/admin/sandbox-faults.ts";

export interface SandboxLevers {
  readonly read: () => readonly SandboxFault[];
  readonly replace: (faults: readonly SandboxFault[]) => void;
}
