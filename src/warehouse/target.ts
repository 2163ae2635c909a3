/** Error of a bucket that is currently unreachable or does not work. A later retry may succeed. */
export class TargetUnavailableError extends Error {
  override readonly name = 'TargetUnavailableError';
}

/** Target of exports: a folder, or a prefix of a bucket. Paths are relative, with slashes. */
export interface ExportTarget {
  /** Name as the user entered it. */
  readonly name: string;
  /** Local folder of unfinished files, as written in errors. */
  readonly local: string;
  /** Creates an empty local folder for unfinished files, and removes the folders of killed exporters. */
  scratch(): Promise<string>;
  /** Moves a finished local file to a path, atomically. */
  take(file: string, path: string): Promise<void>;
  /** Returns the text of a file. Returns null if the file does not exist. */
  read(path: string): Promise<string | null>;
  /**
   * Returns a local file with the content of a file. A downloaded file is below `folder`, and the caller
   * removes it.
   */
  fetch(path: string, folder: string): Promise<string>;
  /**
   * Creates a file.
   * @returns false if the path exists
   */
  create(path: string, text: string): Promise<boolean>;
  /** Writes a file, and overwrites an existing file. */
  replace(path: string, text: string): Promise<void>;
  /** Returns the sorted paths that start with `prefix` and are greater than `after`. */
  list(prefix: string, after: string): Promise<string[]>;
  /**
   * Returns the sizes of the files below a folder by path, in bytes. Omits everything that is not a file,
   * such as symbolic links.
   */
  sizes(folder: string): Promise<ReadonlyMap<string, number>>;
  /** Removes files. A missing file is not an error. */
  remove(paths: readonly string[]): Promise<void>;
  close(): Promise<void>;
}
