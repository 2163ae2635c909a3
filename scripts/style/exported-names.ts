import ts from 'typescript';

/** Names that several modules export by design: alternatives of one interface. */
const SHARED_BY_DESIGN: ReadonlyMap<string, string> = new Map([]);

const isExported = (node: ts.Node): boolean =>
  ts.canHaveModifiers(node) &&
  (ts.getModifiers(node) ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);

/** Returns the names that a module declares and exports. Re-exports are not declarations. */
function declaredExports(path: string, source: string): string[] {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true);
  const names = file.statements.flatMap((statement) => {
    if (!isExported(statement)) return [];
    if (ts.isVariableStatement(statement))
      return statement.declarationList.declarations.map(({ name }) => name.getText(file));
    const named = statement as ts.Statement & { readonly name?: ts.Identifier };
    return named.name === undefined ? [] : [named.name.text];
  });
  return [...new Set(names)];
}

/**
 * Returns the exported names that several modules declare, with the modules.
 * @param files sources by path
 */
export function ambiguousExports(files: ReadonlyMap<string, string>): ReadonlyMap<string, readonly string[]> {
  const places = new Map<string, string[]>();
  for (const [path, source] of files)
    for (const name of declaredExports(path, source)) places.set(name, [...(places.get(name) ?? []), path]);
  return new Map([...places].filter(([name, paths]) => paths.length > 1 && !SHARED_BY_DESIGN.has(name)));
}
