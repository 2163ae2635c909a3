import ts from 'typescript';

/** Names that the project does not declare. */
const REFUSED_NAMES = [
  {
    pattern: /^(asked|given|gone|heard|knows|said|says|stands|stood|told|wanted)$/i,
    replacement: 'a noun for the thing, such as requests, expected, removed, output, alerts',
  },
  { pattern: /^(MOST|LONGEST|FEWEST|PATIENCE)(_|$)/, replacement: 'MAX_…, MIN_…, …_TIMEOUT_MS' },
] as const;

/** Returns true for a node that declares its name. Properties of object literals follow their types. */
const isDeclaration = (node: ts.Node): node is ts.NamedDeclaration =>
  ts.isVariableDeclaration(node) ||
  ts.isParameter(node) ||
  ts.isBindingElement(node) ||
  ts.isFunctionDeclaration(node) ||
  ts.isClassDeclaration(node) ||
  ts.isInterfaceDeclaration(node) ||
  ts.isTypeAliasDeclaration(node) ||
  ts.isClassElement(node) ||
  ts.isTypeElement(node) ||
  ts.isMethodDeclaration(node);

/** Returns the declared names of a TypeScript file that are refused, as problems with their place. */
export function findRefusedNames(path: string, source: string): string[] {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true);
  const problems: string[] = [];
  const visit = (node: ts.Node): void => {
    const name = isDeclaration(node) && node.name && ts.isMemberName(node.name) ? node.name : null;
    const refused = name && REFUSED_NAMES.find(({ pattern }) => pattern.test(name.text.replace('#', '')));
    if (refused) {
      const line = file.getLineAndCharacterOfPosition(name.getStart(file)).line + 1;
      problems.push(`${path}:${line}: "${name.text}" is no term of the field; use ${refused.replacement}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return problems;
}
