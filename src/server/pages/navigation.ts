/** The main places, in the order of the navigation. A page that is landed gets its line here. */
export const navigation: readonly { readonly href: string; readonly label: string }[] = [
  { href: '/', label: 'Overview' },
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

/** Whether a place is the one that is shown, or the one that it is a part of. @param path without the query */
export function isWithin(href: string, path: string): boolean {
  return href === '/' ? path === '/' : path === href || path.startsWith(`${href}/`);
}
