/** The breadcrumbs of a page, from the outside in. */
export function Crumbs({
  path,
}: {
  readonly path: readonly { readonly href: string; readonly label: string }[];
}) {
  if (path.length === 0) return null;
  return (
    <nav class="crumbs" aria-label="Where this is">
      <ol>
        {path.map(({ href, label }) => (
          <li key={href}>
            <a href={href}>{label}</a>
          </li>
        ))}
      </ol>
    </nav>
  );
}
