/** Renders a table as Markdown, with a line end. Escapes the separators in cells. */
export function markdownTable(names: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [names, names.map(() => '---'), ...rows.map((row) => row.map(escapeCell))];
  return lines.map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

const escapeCell = (text: string) => text.replaceAll('|', '\\|');
