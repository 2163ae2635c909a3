/** The main pages, in the order of the navigation. A new main page needs an entry here. */
export const navigation: readonly { readonly href: string; readonly label: string }[] = [
  { href: '/', label: 'Overview' },
  { href: '/validators', label: 'Validators' },
  { href: '/datasets', label: 'Data' },
  { href: '/charts', label: 'Charts' },
  { href: '/status', label: 'Nodes' },
  { href: '/alerts', label: 'Alerts' },
  { href: '/query', label: 'Query' },
  { href: '/runs', label: 'Runs' },
  { href: '/queues', label: 'Queues' },
  { href: '/quarantine', label: 'Quarantine' },
  { href: '/discrepancies', label: 'Discrepancies' },
];

/**
 * Returns whether a path is a main page or below it.
 * @param path path of a URL, without the query
 */
export function isWithin(href: string, path: string): boolean {
  return href === '/' ? path === '/' : path === href || path.startsWith(`${href}/`);
}
