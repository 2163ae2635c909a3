/** Adds a copy button to each text with `data-copy`. */
for (const text of document.querySelectorAll<HTMLElement>('[data-copy]')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'plain copy';
  button.textContent = 'Copy';
  button.addEventListener('click', () => {
    navigator.clipboard.writeText(text.textContent).then(
      () => {
        button.textContent = 'Copied';
      },
      // Without permission to write to the clipboard, select the text instead.
      () => getSelection()?.selectAllChildren(text),
    );
  });
  text.after(button);
}
