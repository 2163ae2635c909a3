import ts from 'typescript';

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
 * Returns the exported names that several modules declare, as problems. One exported word has one meaning.
 * @param files sources by path
 */
export function findAmbiguousExports(files: ReadonlyMap<string, string>): string[] {
  const places = new Map<string, string[]>();
  for (const [path, source] of files)
    for (const name of declaredExports(path, source)) places.set(name, [...(places.get(name) ?? []), path]);
  return [...places]
    .filter(([, paths]) => paths.length > 1)
    .map(
      ([name, paths]) =>
        `${paths.join(', ')}: several modules export "${name}"; give the more special one a prefix`,
    );
}
