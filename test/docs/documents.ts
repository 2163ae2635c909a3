import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = new URL('../../', import.meta.url);

/** A Markdown document of the repository. */
export interface Document {
  /** Path from the root of the repository. */
  readonly path: string;
  readonly text: string;
}

/** A fenced block of a document. */
export interface CodeBlock {
  readonly path: string;
  readonly language: string;
  readonly code: string;
}

/** Returns all Markdown documents of the repository. */
export function documents(): readonly Document[] {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], {
    cwd: fileURLToPath(root),
    encoding: 'utf8',
  });
  return listed
    .split('\n')
    .filter((path) => path !== '' && !path.startsWith('.github/'))
    .map((path) => ({ path, text: readFileSync(new URL(path, root), 'utf8') }));
}

/** Returns the fenced blocks of all documents in one of the languages. */
export function codeBlocks(...languages: readonly string[]): readonly CodeBlock[] {
  return documents().flatMap(({ path, text }) =>
    [...text.matchAll(/^ *```(\w+)\n(.*?)^ *```$/gms)]
      .map(([, language = '', code = '']) => ({ path, language, code }))
      .filter(({ language }) => languages.includes(language)),
  );
}
