// One line on a terminal's standard error that says how far long work has come. Elsewhere it says nothing.
import type { Context } from '../context.ts'

export interface Progress {
  tell(step: string, done: number, total: number): void
  /** Clears the line. */
  end(): void
}

const CLEAR = '\r\u001b[K'

export function createProgress({ terminal, json }: Pick<Context, 'terminal' | 'json'>): Progress {
  if (json || !terminal.errorIsTty) return { tell: () => undefined, end: () => undefined }
  let shown = ''
  return {
    tell(step, done, total) {
      const percent = total <= 1 ? '' : ` ${Math.floor((100 * done) / total)} %`
      const line = `${step}${percent}`
      if (line === shown) return
      shown = line
      terminal.err(`${CLEAR}${line}`)
    },
    end() {
      if (shown !== '') terminal.err(CLEAR)
      shown = ''
    },
  }
}
