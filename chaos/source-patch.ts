/** A change to one file of `src/`, by which a bug is inserted into a copy of the recorder. */
export interface SourcePatch {
  /** Below `src/`. */
  readonly file: string;
  /** A text that the file contains exactly once. */
  readonly from: string;
  readonly to: string;
}

/** Returns the patched text of a file. @throws Error if the text does not contain `from` exactly once */
export function applyPatch(text: string, { file, from, to }: SourcePatch): string {
  const parts = text.split(from);
  if (parts.length !== 2)
    throw new Error(`src/${file} contains this text ${parts.length - 1} times: ${from}`);
  return parts.join(to);
}
