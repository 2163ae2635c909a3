/** The link to the next page of rows; nothing if there is none. */
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
