import type { ReaderQueryResult } from '../../db/query-as-reader.ts';
import type { OutputStream } from '../../lib/output-stream.ts';
import { parseFields } from '../../lib/parse-fields.ts';
import { escapeHtml } from '../../lib/safe-text.ts';
import { createPacedWriter } from './print-rows.ts';

const STYLE = `
:root { color-scheme: light dark; --text: #1b1f24; --soft: #5b6570; --line: #d5dae0; --page: #fff; }
@media (prefers-color-scheme: dark) { :root { --text: #e6e9ed; --soft: #9aa4af; --line: #3a424c; --page: #14181d; } }
body { margin: 0; padding: 2rem 1.25rem; background: var(--page); color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin: 0; } .soft { color: var(--soft); } .scroll { overflow-x: auto; }
code { overflow-wrap: anywhere; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { padding: .35rem 1rem .35rem 0; text-align: left; vertical-align: top; border-top: 1px solid var(--line); }
th { color: var(--soft); font-weight: 500; border-top: 0; } .number { text-align: right; }
`;

/** Texts above the rows of a page. */
export interface PageHead {
  readonly title: string;
  readonly about: string;
  /** SQL statement of the rows. */
  readonly statement: string;
}

/**
 * Prints a query result as one HTML page without external resources. Returns early if the reader closes the
 * output.
 */
export async function printPage(
  { columns, rows }: ReaderQueryResult,
  head: PageHead,
  out: OutputStream,
): Promise<void> {
  const write = createPacedWriter(out);
  const line = (tag: 'th' | 'td', texts: readonly string[]) =>
    `<tr>${texts
      .map(
        (text, at) =>
          `<${tag}${columns[at]?.kind === 'number' ? ' class="number"' : ''}>${escapeHtml(text)}</${tag}>`,
      )
      .join('')}</tr>\n`;
  const title = escapeHtml(head.title);
  const names = line(
    'th',
    columns.map(({ name }) => name),
  );
  const begin = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title><style>${STYLE}</style></head><body>
<h1>${title}</h1>
<p>${escapeHtml(head.about)}</p>
<p class="soft"><code>${escapeHtml(head.statement)}</code></p>
<div class="scroll"><table>
${names}`;
  if (!(await write(begin))) return;
  let isEmpty = true;
  for await (const block of rows('values')) {
    const lines = block.map((row) =>
      line(
        'td',
        parseFields(row).map((text) => text ?? ''),
      ),
    );
    if (!(await write(lines.join('')))) return;
    isEmpty = false;
  }
  await write(`</table></div>\n${isEmpty ? '<p class="soft">No rows.</p>\n' : ''}</body></html>\n`);
}
