// Whether the optional package with the engine is installed, with its build for this machine. Nothing is loaded.
import { SHERPA_PACKAGE } from "./sherpa.ts";

export function isEngineInstalled(): boolean {
  return [SHERPA_PACKAGE, enginePackage()].every(isResolvable);
}

/** The package with the native code for this system. */
export function enginePackage(): string {
  const system = process.platform === "win32" ? "win" : process.platform;
  return `sherpa-onnx-${system}-${process.arch}`;
}

function isResolvable(name: string): boolean {
  try {
    import.meta.resolve(name);
    return true;
  } catch {
    return false;
  }
}
