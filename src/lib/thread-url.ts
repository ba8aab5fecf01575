// Where the file of a thread lies: beside the module that starts it.

/** From .ts sources and from compiled .js alike: nothing rewrites a URL, so the extension is that of `module`, an `import.meta.url`. */
export function threadUrl(module: string, name: string): URL {
  return new URL(`./${name}${module.endsWith(".ts") ? ".ts" : ".js"}`, module);
}
