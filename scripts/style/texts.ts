import ts from 'typescript';

/** A text for people, with its place. */
export interface StyleText {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

const lineAt = (source: string, offset: number): number => source.slice(0, offset).split('\n').length;

/** Matches SQL and other code within literals. */
const CODE =
  /\b(select|insert into|update recorder|cross join|group by|order by|as materialized|on conflict|plpgsql|begin (read|transaction))\b/;

/** Matches a line of a template literal that is a comment in SQL. */
const SQL_COMMENT = /^[ \t]*-- .*/gm;

/** Returns the comments, the sentences in string literals, and the SQL comments in them, of a TypeScript file. */
function typescriptTexts(path: string, source: string): StyleText[] {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true);
  const texts: StyleText[] = [];
  const add = (offset: number, text: string) => texts.push({ path, line: lineAt(source, offset), text });
  const seen = new Set<number>();
  const visit = (node: ts.Node): void => {
    for (const { pos, end } of [
      ...(ts.getLeadingCommentRanges(source, node.getFullStart()) ?? []),
      ...(ts.getTrailingCommentRanges(source, node.end) ?? []),
    ]) {
      if (!seen.has(pos)) add(pos, source.slice(pos, end).replace(/\n\s*\*?/g, ' '));
      seen.add(pos);
    }
    if (
      ts.isStringLiteralLike(node) ||
      ts.isTemplateHead(node) ||
      ts.isTemplateMiddleOrTemplateTail(node) ||
      ts.isJsxText(node)
    )
      if (/\S \S+ \S/.test(node.text) && !CODE.test(node.text)) add(node.getStart(), node.text);
    if (ts.isNoSubstitutionTemplateLiteral(node) || ts.isTemplateExpression(node))
      for (const { 0: text, index } of node.getText(file).matchAll(SQL_COMMENT))
        add(node.getStart(file) + index, text.trim());
    ts.forEachChild(node, visit);
  };
  visit(file);
  return texts;
}

/** Returns the comments and the sentences in string literals of a SQL file. */
const sqlTexts = (path: string, source: string): StyleText[] =>
  [...source.matchAll(/--[^\n]*|'(?:[^']|'')*'/g)]
    .filter(([text]) => text.startsWith('--') || (/\S \S+ \S/.test(text) && !CODE.test(text)))
    .map(({ 0: text, index }) => ({ path, line: lineAt(source, index), text: text.replace(/^--/, '') }));

/** Returns the texts of a file that people read: comments, messages and documents without code. */
export function textsOf(path: string, source: string): StyleText[] {
  if (/\.(tsx?|js)$/.test(path)) return typescriptTexts(path, source);
  if (path.endsWith('.sql')) return sqlTexts(path, source);
  const withoutCode = path.endsWith('.md')
    ? source.replace(/^ *```.*?^ *```$/gms, (block) => block.replace(/[^\n]/g, ''))
    : source;
  return withoutCode.split('\n').map((text, at) => ({ path, line: at + 1, text }));
}
