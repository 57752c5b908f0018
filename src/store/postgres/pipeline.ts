// The writer's connection. Statements gather until a caller waits for an answer. They leave as one message with one
// sync at its end. The driver sends a sync per statement, so the server answers and describes each one separately. Both
// cost more than most of the statements.
import type { Writable } from 'node:stream'
import pg from 'pg'
import type { Param, Row } from '../statement.ts'
import { createClient, typeParser } from './connection.ts'
import { createMessage } from './wire.ts'

/** The result of a statement. */
export interface Asked {
  readonly rows: readonly Row[]
  readonly rowCount: number
  readonly command: string
}

export interface Pipeline {
  readonly client: pg.Client
  /**
   * Answers come in the order of these calls. A repeated text is parsed and planned once. Leaves with the next `send`.
   */
  ask(text: string, values: readonly (Param | undefined)[]): Promise<Asked>
  send(): void
  /** Rejects the statements that have not left. */
  discard(why: unknown): void
}

interface Column {
  readonly name: string
  readonly parse: ((text: string) => unknown) | null
}

/** A statement that the server knows by name. */
interface Prepared {
  readonly name: string
  columns: readonly Column[]
}

interface Question {
  readonly text: string
  readonly values: readonly (Param | undefined)[]
  readonly rows: Row[]
  readonly resolve: (asked: Asked) => void
  readonly reject: (thrown: unknown) => void
}

const TEXT = 25

export function createPipeline(url: string): Pipeline {
  const client = createClient(url, { pipeline: true })
  const known = new Map<string, Prepared>()
  let named = 0
  let open: Question[] = []

  const prepare: Names['prepare'] = (text) => {
    const before = known.get(text)
    if (before) return [before, false]
    const prepared = { name: `sb${named++}`, columns: [] }
    known.set(text, prepared)
    return [prepared, true]
  }

  return {
    client,
    ask: (text, values) =>
      new Promise((resolve, reject) => open.push({ text, values, rows: [], resolve, reject })),
    send() {
      if (open.length === 0) return
      const batch = createBatch(open, { prepare, forget: (text) => known.delete(text) })
      open = []
      client.query(batch)
    },
    discard(why) {
      for (const { reject } of open.splice(0)) reject(why)
    },
  }
}

interface Field {
  readonly name: string
  readonly dataTypeID: number
}

export type Batch = pg.Query & {
  readonly texts: readonly string[]
  /** Resolves when all answers are in, or none will come any more. */
  readonly over: Promise<void>
}

interface Names {
  /** True: the server must be sent the statement now. */
  readonly prepare: (text: string) => readonly [Prepared, boolean]
  readonly forget: (text: string) => void
}

/** The driver treats it as one query, with replaced methods for sending and receiving. */
function createBatch(questions: readonly Question[], { prepare, forget }: Names): Batch {
  const prepared: Prepared[] = []
  const fresh = new Set<number>()
  let at = 0
  let end: () => void = () => undefined
  const over = new Promise<void>((resolve) => (end = resolve))

  const message = (): Buffer => {
    const message = createMessage()
    for (const [nth, { text, values }] of questions.entries()) {
      const [one, isNew] = prepare(text)
      prepared.push(one)
      if (isNew) {
        fresh.add(nth)
        message.parse(one.name, text)
      }
      message.run(one.name, values)
    }
    return message.sync()
  }

  /** The server skips everything after the first failure. */
  const fail = (thrown: unknown): void => {
    for (; at < questions.length; at++) {
      const { text, reject } = questions[at] as Question
      // The server may or may not know this name, so the text gets a new one.
      if (fresh.has(at)) forget(text)
      reject(thrown)
    }
  }

  const batch = Object.assign(new pg.Query({ text: '' }), {
    texts: questions.map(({ text }) => text),
    over,
    submit: ({ stream }: { readonly stream: Writable }) => void stream.write(message()),
    /** The driver wraps this callback with one that gives up when no answer comes. */
    callback(thrown?: unknown): void {
      if (thrown !== undefined && thrown !== null) fail(thrown)
      end()
    },
    handleRowDescription({ fields }: { readonly fields: readonly Field[] }): void {
      const described = prepared[at]
      if (!described) return
      described.columns = fields.map(({ name, dataTypeID }) => ({
        name,
        parse: dataTypeID === TEXT ? null : typeParser(dataTypeID),
      }))
    },
    handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
      const columns = prepared[at]?.columns ?? []
      const row: Record<string, unknown> = {}
      for (let nth = 0; nth < columns.length; nth++) {
        const { name, parse } = columns[nth] as Column
        const field = fields[nth] as string | null
        row[name] = field === null || parse === null ? field : parse(field)
      }
      questions[at]?.rows.push(row as Row)
    },
    handleCommandComplete({ text }: { readonly text: string }): void {
      const question = questions[at++]
      const [command = '', ...counts] = text.split(' ')
      question?.resolve({ rows: question.rows, rowCount: Number(counts.at(-1) ?? 0), command })
    },
    handleError: (thrown: unknown): void => batch.callback(thrown),
    handleReadyForQuery: (): void => batch.callback(),
  })
  return batch
}
