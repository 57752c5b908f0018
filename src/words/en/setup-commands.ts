// What the commands that write and check a configuration print.
import type { Mark } from '../mark.ts'

export interface Wrote {
  readonly file: string
  readonly added: string
  readonly mark: Mark
}

export const setupCommands = {
  init: {
    next: ({ command, mark }: { readonly command: string; readonly mark: Mark }) => `Next: ${mark(command)}`,
    wroteWith: ({ file, added, mark }: Wrote) => `${mark('wrote')} ${file}: ${added}`,
    addedTo: ({ file, added, mark }: Wrote) => `${mark('added to')} ${file}: ${added}`,
  },
}
