/** A text to copy: one click selects all of it, and with JavaScript a button copies it. */
export function CopyableText({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it can be scrolled, so the keyboard has to reach it
    <section class="copied" tabIndex={0} aria-label={label}>
      <pre data-copy>{text}</pre>
    </section>
  );
}
