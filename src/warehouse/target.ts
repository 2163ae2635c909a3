/** A bucket that cannot be reached now, or does not work now: trying again later may help. */
export class TargetAway extends Error {
  override readonly name = 'TargetAway';
}

/** Where exports go: a folder, or a part of a bucket. Paths are relative, with slashes. */
export interface Target {
  /** As people gave it. */
  readonly name: string;
  /** Where on this machine files are made, as errors name it. */
  readonly local: string;
  /** Makes an empty local folder for files that are being written, and removes what exporters left that were killed. */
  scratch(): Promise<string>;
  /** Takes a finished local file. It stands there whole or not at all. */
  take(file: string, path: string): Promise<void>;
  /** The text of a file; null: there is none. */
  read(path: string): Promise<string | null>;
  /** A local file with what stands in a file. It is below `folder` where it had to be brought: who asked removes it. */
  fetch(path: string, folder: string): Promise<string>;
  /** Writes a text where nothing is. @returns false where something is already */
  create(path: string, text: string): Promise<boolean>;
  /** Writes a text, over what is there. */
  replace(path: string, text: string): Promise<void>;
  /** The paths that begin so and come behind `after`, in their order. */
  list(prefix: string, after: string): Promise<string[]>;
  /** Returns the sizes in bytes of the files below a folder, by path. What is no file, such as a symbolic link, is left out. */
  sizes(folder: string): Promise<ReadonlyMap<string, number>>;
  /** Removes files; one that is not there is no error. */
  remove(paths: readonly string[]): Promise<void>;
  close(): Promise<void>;
}
