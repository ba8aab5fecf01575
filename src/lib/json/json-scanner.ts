// Scans JSON text chunk by chunk and detects the end of its outermost object or list. Reads each character once.

export interface JsonScanner {
  feed(text: string): void;
  isComplete(): boolean;
}

export function createJsonScanner(): JsonScanner {
  let depth = 0;
  let hasBegun = false;
  let isInString = false;
  let isEscaped = false;
  return {
    feed: (text) => {
      for (const character of text) {
        if (isInString) {
          if (isEscaped) isEscaped = false;
          else if (character === "\\") isEscaped = true;
          else if (character === '"') isInString = false;
        } else if (character === '"') isInString = true;
        else if (character === "{" || character === "[") {
          depth += 1;
          hasBegun = true;
        } else if (character === "}" || character === "]") depth -= 1;
      }
    },
    isComplete: () => hasBegun && depth <= 0 && !isInString,
  };
}
