/** The link to the next page of rows; empty if there is no next page. */
export function Older({ href, label = 'Older' }: { readonly href: string | null; readonly label?: string }) {
  if (href === null) return null;
  return (
    <nav class="pager" aria-label="More rows">
      <a class="button plain" href={href} rel="next">
        {label}
      </a>
    </nav>
  );
}
