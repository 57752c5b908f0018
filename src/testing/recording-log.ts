// A logger that keeps its lines, so that a test can search them for text that must not appear.
import type { Logger } from '../contract/index.ts'

export interface RecordingLog extends Logger {
  /** One JSON text for each line: level, fields and message. */
  readonly lines: readonly string[]
}

export function createRecordingLog(): RecordingLog {
  const lines: string[] = []
  const bound = (context: Readonly<Record<string, unknown>>): RecordingLog => {
    const at = (level: string) => (fields: Readonly<Record<string, unknown>>, message: string) => {
      lines.push(JSON.stringify({ level, ...context, ...fields, message }))
    }
    return {
      lines,
      debug: at('debug'),
      info: at('info'),
      warn: at('warn'),
      error: at('error'),
      child: (fields) => bound({ ...context, ...fields }),
    }
  }
  return bound({})
}
