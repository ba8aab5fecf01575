// Whether the optional package with the engine is installed, with its build for this machine. Nothing is loaded.
import { SHERPA_PACKAGE } from "./sherpa.ts";

export function isEngineInstalled(): boolean {
  const system = process.platform === "win32" ? "win" : process.platform;
  return [SHERPA_PACKAGE, `sherpa-onnx-${system}-${process.arch}`].every(isResolvable);
}

function isResolvable(name: string): boolean {
  try {
    import.meta.resolve(name);
    return true;
  } catch {
    return false;
  }
}
