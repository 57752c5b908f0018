// A path as it can be pasted into a shell: quoted only where it must be.

export function shellWord(text: string): string {
  return /^[\w./~+@:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
