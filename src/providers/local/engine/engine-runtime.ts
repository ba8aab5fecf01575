// What determines a text in addition to audio and model files: the engine's version, and the instruction sets of the processor, by which the engine chooses its
// arithmetic [local.receipt].
import { closeSync, openSync, readFileSync, readSync } from "node:fs";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { enginePackage } from "./engine-installed.ts";

export interface EngineRuntime {
  /** Such as `sherpa-onnx 1.13.8`. */
  readonly engine: string;
  /** Such as `x64 avx avx2 fma`. */
  readonly processor: string;
}

export function readEngineRuntime(): EngineRuntime {
  const model = cpus()[0]?.model ?? "unknown";
  return { engine: `sherpa-onnx ${installedVersion()}`, processor: processorFamily(process.arch, cpuInfo(), model) };
}

/** The package of this system contains the native code. */
function installedVersion(): string {
  try {
    const path = fileURLToPath(import.meta.resolve(`${enginePackage()}/package.json`));
    const { version } = JSON.parse(readFileSync(path, "utf8")) as { readonly version?: unknown };
    return typeof version === "string" ? version : "unknown";
  } catch {
    return "unknown";
  }
}

/** Instruction sets between which the engine's matrix code (ONNX Runtime) chooses. */
const INSTRUCTION_SETS: Readonly<Record<string, readonly string[]>> = {
  x64: ["avx", "avx2", "fma", "f16c", "avx_vnni", "avx512f", "avx512_vnni", "amx_int8"],
  arm64: ["asimd", "asimddp", "i8mm", "bf16", "sve", "sve2", "sme"],
};

/** `info`: the contents of /proc/cpuinfo. Null: the system has none, and `model` names the processor. */
export function processorFamily(arch: string, info: string | null, model: string): string {
  const flags = /^(?:flags|Features)\s*:(.*)$/mu
    .exec(info ?? "")?.[1]
    ?.trim()
    .split(/\s+/u);
  if (flags === undefined) return `${arch} ${model.trim()}`;
  return [arch, ...(INSTRUCTION_SETS[arch] ?? []).filter((name) => flags.includes(name))].join(" ");
}

/** The first processor's lines: the file of a large machine has hundreds of thousands of bytes. */
const FIRST_BYTES = 8_192;

function cpuInfo(): string | null {
  try {
    const file = openSync("/proc/cpuinfo", "r");
    try {
      const bytes = Buffer.alloc(FIRST_BYTES);
      return bytes.toString("utf8", 0, readSync(file, bytes, 0, FIRST_BYTES, 0));
    } finally {
      closeSync(file);
    }
  } catch {
    return null;
  }
}
