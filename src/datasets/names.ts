/**
 * Converts a name to snake case: `nodeID` → `node_id`, `utxoIDs` → `utxo_ids`, `proposerPChainHeight` →
 * `proposer_p_chain_height`.
 */
export function snakeCase(name: string): string {
  return name
    .replace(
      /([A-Z])([A-Z]+)s(?![a-z])/g,
      (_, first: string, rest: string) => `${first}${rest.toLowerCase()}s`,
    )
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1_$2')
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase();
}

/**
 * Returns the column name of a nested field. The name of the object precedes the name of the field, unless
 * the field already starts with its first word: `proposerDetails.proposerNodeId` becomes `proposer_node_id`,
 * and `signer.publicKey` becomes `signer_public_key`.
 */
export function columnName(path: readonly string[]): string {
  return path.map(snakeCase).reduceRight((inner, outer) => {
    const word = outer.split('_')[0] ?? outer;
    return inner === word || inner.startsWith(`${word}_`) ? inner : `${outer}_${inner}`;
  });
}
