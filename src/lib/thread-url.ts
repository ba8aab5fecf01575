// Returns the URL of a worker thread's file, which is next to the module that starts it.

/** `module` is an `import.meta.url`. Its extension (.ts or compiled .js) is used, because the compiler does not rewrite URLs. */
export function threadUrl(module: string, name: string): URL {
  return new URL(`./${name}${module.endsWith(".ts") ? ".ts" : ".js"}`, module);
}
