// The writer's connection: statements gather until somebody waits for an answer, and leave as one message with one sync
// at its end. A sync for each, as the driver sends it, has the server write an answer of its own for each, and what a
// statement returns be described each time; both cost more than most of the statements do.
import type { Writable } from 'node:stream'
import pg from 'pg'
import type { Param, Row } from '../statement.ts'
import { createClient, typeParser } from './connection.ts'
import { createMessage } from './wire.ts'

/** What a statement came to. */
export interface Asked {
  readonly rows: readonly Row[]
  readonly rowCount: number
  readonly command: string
}

export interface Pipeline {
  readonly client: pg.Client
  /** In the order of these calls. A text that comes again is parsed and planned once. Leaves with the next `send`. */
  ask(text: string, values: readonly (Param | undefined)[]): Promise<Asked>
  send(): void
  /** What has not left never will. */
  discard(why: unknown): void
}

interface Column {
  readonly name: string
  readonly parse: ((text: string) => unknown) | null
}

/** A statement that the server knows by its name. */
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

  /** True: the server is told of it now. */
  const prepare = (text: string): readonly [Prepared, boolean] => {
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
      const batch = new Batch(open, prepare, (text) => known.delete(text))
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

/** To the driver it is one query. It does not know those below, but calls them. */
export class Batch extends pg.Query {
  readonly texts: readonly string[]
  /** When everything is answered, or nothing more will be. */
  readonly over: Promise<void>
  private readonly prepared: Prepared[] = []
  private readonly fresh = new Set<number>()
  private at = 0
  /** Of the driver, which puts an end to waiting for an answer around it. */
  callback: (thrown?: unknown) => void

  constructor(
    private readonly questions: readonly Question[],
    private readonly prepare: (text: string) => readonly [Prepared, boolean],
    private readonly forget: (text: string) => void,
  ) {
    super({ text: '' })
    this.texts = questions.map(({ text }) => text)
    let over: () => void = () => undefined
    this.over = new Promise((resolve) => (over = resolve))
    this.callback = (thrown) => {
      if (thrown !== undefined && thrown !== null) this.fail(thrown)
      over()
    }
    this.submit = ({ stream }: { readonly stream: Writable }) => void stream.write(this.message())
  }

  private message(): Buffer {
    const message = createMessage()
    for (const [at, { text, values }] of this.questions.entries()) {
      const [prepared, isNew] = this.prepare(text)
      this.prepared.push(prepared)
      if (isNew) {
        this.fresh.add(at)
        message.parse(prepared.name, text)
      }
      message.run(prepared.name, values)
    }
    return message.sync()
  }

  /** What came after the first failure was passed over. */
  private fail(thrown: unknown): void {
    for (; this.at < this.questions.length; this.at++) {
      const { text, reject } = this.questions[this.at] as Question
      // Whether the server has it by its name is not known: it gets another one.
      if (this.fresh.has(this.at)) this.forget(text)
      reject(thrown)
    }
  }

  handleRowDescription({ fields }: { readonly fields: readonly Field[] }): void {
    const prepared = this.prepared[this.at]
    if (!prepared) return
    prepared.columns = fields.map(({ name, dataTypeID }) => ({
      name,
      parse: dataTypeID === TEXT ? null : typeParser(dataTypeID),
    }))
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    const columns = this.prepared[this.at]?.columns ?? []
    const row: Record<string, unknown> = {}
    for (let at = 0; at < columns.length; at++) {
      const { name, parse } = columns[at] as Column
      const field = fields[at] as string | null
      row[name] = field === null || parse === null ? field : parse(field)
    }
    this.questions[this.at]?.rows.push(row as Row)
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    const question = this.questions[this.at++]
    const [command = '', ...counts] = text.split(' ')
    question?.resolve({ rows: question.rows, rowCount: Number(counts.at(-1) ?? 0), command })
  }

  handleError(thrown: unknown): void {
    this.callback(thrown)
  }

  handleReadyForQuery(): void {
    this.callback()
  }
}
