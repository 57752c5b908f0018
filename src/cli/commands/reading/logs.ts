// `switchboard logs`: what the daemon wrote down, for people or as it stands; of one integration; the way of one turn,
// from the ledger and the log together.
import { statSync, unwatchFile, watchFile } from 'node:fs'
import { readDaemonNote } from '../../../config/instance/daemon-note.ts'
import { createSerial, SwitchboardError } from '../../../contract/index.ts'
import { wordsIn } from '../../../words/index.ts'
import type { Context, Run } from '../../context.ts'
import { usage } from '../../failure.ts'
import { type LogTail, openLogTail } from '../../output/log-tail.ts'
import { oneLine } from '../../output/text.ts'

export interface LogsOptions {
  readonly follow?: boolean
  readonly integration?: string
  readonly turn?: string
  readonly lines?: string
}

type Line = Readonly<Record<string, unknown>>

const LINES = 200
const LOOK_EVERY_MS = 300
const LEVELS: Readonly<Record<number, string>> = { 20: 'debug', 30: '', 40: 'warn', 50: 'error', 60: 'error' }

export const logs: Run<LogsOptions> = async (context, _args, options) => {
  const most = options.lines === undefined ? LINES : Number(options.lines)
  if (!Number.isInteger(most) || most < 0)
    throw usage(`--lines: "${oneLine(options.lines ?? '')}" is not a number`)
  if (options.turn !== undefined && options.follow === true)
    throw usage(
      '--turn and --follow do not go together',
      'a turn that moves is followed with: switchboard turns --follow',
    )
  const { logFile } = context.folder
  const file = statSync(logFile, { throwIfNoEntry: false })
  const tail = file === undefined ? undefined : openLogTail(logFile)
  const lines = tail?.next() ?? []
  if (options.follow !== true) tail?.close()
  if (options.turn !== undefined) return wayOfTurn(context, options.turn, lines)
  if (tail === undefined) throw noLog(context)
  const wanted = (line: string) => concerns(line, options.integration)
  const kept = lines.filter(wanted)
  if (options.integration !== undefined && kept.length === 0)
    context.note(wordsIn().reports.logs.nothingAbout({ integration: oneLine(options.integration) }))
  for (const line of kept.slice(Math.max(0, kept.length - most))) await tell(context, line)
  if (options.follow === true)
    await follow(logFile, tail, (line) => (wanted(line) ? tell(context, line) : undefined))
  return 0
}

function noLog(context: Context): SwitchboardError {
  const note = readDaemonNote(context.folder)
  const words = wordsIn().reports.logs
  const hint =
    note?.service !== undefined
      ? words.serviceHint({ service: note.service || 'switchboard' })
      : words.noLogHint
  return new SwitchboardError('not_found', `there is no log ${context.folder.logFile}`, { hint })
}

/** Until interrupted. */
function follow(
  file: string,
  tail: LogTail,
  tellLine: (line: string) => Promise<void> | undefined,
): Promise<never> {
  const inOrder = createSerial()
  return new Promise((_resolve, reject) => {
    const look = () => {
      try {
        for (const line of tail.next()) inOrder(() => tellLine(line)).catch(end)
      } catch (thrown) {
        end(thrown)
      }
    }
    const end = (why: unknown) => {
      unwatchFile(file, look)
      tail.close()
      reject(why)
    }
    watchFile(file, { interval: LOOK_EVERY_MS }, look)
    // What was written while the first lines were told.
    look()
  })
}

function parse(line: string): Line | null {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? (value as Line) : null
  } catch {
    return null
  }
}

function concerns(line: string, integration: string | undefined): boolean {
  if (integration === undefined) return true
  const fields = parse(line)
  return (
    fields !== null && (fields.integration === integration || fields.part === `integration:${integration}`)
  )
}

async function tell(context: Context, line: string): Promise<void> {
  if (context.json) return void (await context.print(line))
  const fields = parse(line)
  // What a daemon in the background tells whoever started it; the log has said the same, with its time.
  if (fields?.ready === true && fields.msg === undefined) return
  await context.print(fields === null ? oneLine(line) : forPeople(context, fields))
}

/** A start that failed: its error as a person was told it. */
function refusal({ paint }: Pick<Context, 'paint'>, { error, hint }: Line): string {
  const how = typeof hint === 'string' ? paint.dim(` (${oneLine(hint)})`) : ''
  return `${paint.red('error ')}${oneLine(String(error))}${how}`
}

function forPeople({ paint }: Pick<Context, 'paint'>, fields: Line): string {
  if (fields.ok === false && fields.msg === undefined) return refusal({ paint }, fields)
  const { level, time, msg, ...rest } = fields
  const name = LEVELS[Number(level)] ?? ''
  const told = name === 'error' ? paint.red(`${name} `) : name === 'warn' ? paint.yellow(`${name} `) : ''
  const more = Object.entries(rest).map(
    ([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
  const at = typeof time === 'string' ? `${paint.dim(time.slice(0, 19).replace('T', ' '))} ` : ''
  return `${at}${told}${oneLine(String(msg ?? fields.error ?? ''))}${more.length === 0 ? '' : paint.dim(` ${oneLine(more.join(' '))}`)}`
}

/** Every entry of the ledger that names the turn, and every line of the log that does, in the order of their times. */
async function wayOfTurn(context: Context, id: string, lines: readonly string[]): Promise<number> {
  const told: { readonly at: string; readonly from: 'ledger' | 'log'; readonly line: Line }[] = []
  const quoted = JSON.stringify(id)
  const found = await context.reading(async (api) => {
    const turn = await api.find('GET /api/turns/{id}', { path: { id } })
    if (turn === null) return null
    let begun = ''
    for await (const chunk of api.stream('GET /api/audit/export', { format: 'ndjson' })) {
      const parts = (begun + chunk).split('\n')
      begun = parts.pop() ?? ''
      for (const part of parts) {
        const line = part.includes(quoted) ? parse(part) : null
        if (line !== null) told.push({ at: timeOf(line.at), from: 'ledger', line })
      }
    }
    return turn
  })
  if (found === null)
    throw new SwitchboardError('not_found', `there is no turn "${oneLine(id)}"`, {
      hint: wordsIn().commandLine.turns.listHint,
    })
  for (const text of lines) {
    const line = text.includes(quoted) ? parse(text) : null
    if (line !== null) told.push({ at: String(line.time ?? ''), from: 'log', line })
  }
  told.sort((a, b) => a.at.localeCompare(b.at))
  for (const { from, line } of told) {
    if (context.json) await context.printJson({ ...line, from_log: from === 'log' })
    else await context.print(from === 'log' ? forPeople(context, line) : entryLine(context, line))
  }
  if (!context.json)
    context.note(
      context.paint.dim(
        wordsIn().reports.logs.nowIs({ state: found.state, reason: found.reason, id: oneLine(id) }),
      ),
    )
  return 0
}

function entryLine({ paint }: Context, entry: Line): string {
  const { at, kind, ref, from, to, reason, detail } = entry
  const move = [from, to].filter((state) => typeof state === 'string' && state !== '').join(' → ')
  const more = typeof detail === 'string' && detail !== '' ? paint.dim(` ${detailWords(detail)}`) : ''
  const why = typeof reason === 'string' && reason !== '' ? ` (${reason})` : ''
  return `${paint.dim(timeOf(at).slice(0, 19).replace('T', ' '))} ${oneLine(`${kind} ${ref}`)} ${oneLine(move)}${oneLine(why)}${more}`
}

/** ISO 8601, as the log has it: the ledger counts milliseconds. */
const timeOf = (at: unknown) => (typeof at === 'number' ? new Date(at).toISOString() : String(at))

/** The ledger's detail is a text; where it is an object of JSON, its fields as a line of the log shows them. */
function detailWords(detail: string): string {
  const fields = parse(detail)
  if (fields === null || Array.isArray(fields)) return oneLine(detail)
  const words = Object.entries(fields).map(
    ([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
  return oneLine(words.join(' '))
}
