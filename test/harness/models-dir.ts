// The environment variable that names a directory of real models, as `patchbay models` fills it, for tests and benchmarks [local.error-bound].
export const MODELS_DIR = "PATCHBAY_MODELS_DIR";
