// `switchboard chorus`: connection strings of chorus integrations, and a check of somebody else's agent or service.
import type { TokenView } from '../../../gateway/access/token-views.ts'
import { wordsIn } from '../../../words/index.ts'
import type { Run } from '../../context.ts'
import { usage } from '../../failure.ts'
import { printList } from '../../list.ts'
import type { Column } from '../../output/table.ts'
import { relativeTime } from '../../output/time.ts'
import { tokenState } from '../setup/token.ts'

export const listConnections: Run = (context) =>
  context.reading(async (api) => {
    const now = context.terminal.now()
    const { columns: titles } = wordsIn().tables
    const columns: readonly Column<TokenView>[] = [
      { title: titles.integration, value: (row) => row.scope.integration ?? '' },
      { title: titles.id, value: (row) => row.id },
      { title: titles.state, value: (row) => tokenState(row, now) },
      { title: titles.created, value: (row) => relativeTime(row.created_at, now) },
    ]
    const rows = (await api.ask('GET /api/tokens')).items.filter((row) => row.kind === 'chorus-inbox')
    await printList(context, rows, columns, {
      empty: wordsIn().commandLine.empty.connectionStrings,
    })
    return 0
  })

const minted =
  (verb: 'connect' | 'rotate'): Run =>
  async (context, [id = '']) => {
    const daemon = await context.daemon()
    const made = await daemon.ask(`POST /api/chorus/{id}/${verb}`, { path: { id } })
    if (context.json) {
      await context.printJson(made)
      return 0
    }
    await context.print(made.connection_string)
    context.note(context.paint.dim(wordsIn().reports.chorus.secret(made)))
    return 0
  }

export const connect = minted('connect')
export const rotate = minted('rotate')

export interface VerifyOptions {
  readonly callback?: string
  readonly allowPrivate?: boolean
  readonly listen?: string
  readonly service?: boolean
  readonly wait?: string
}

export const verify: Run<VerifyOptions> = async (context, [url = ''], options) => {
  if (!/^https?:\/\/\S+$/.test(url))
    throw usage('the URL is not one', 'give a connection string or a callback URL')
  if (url.startsWith('http:') && options.allowPrivate !== true)
    throw usage('http: is only taken of what is on this machine or network', 'say so with --allow-private')
  const { callback } = options
  if (callback !== undefined && (!/^https?:\/\//.test(callback) || !URL.canParse(callback)))
    throw usage(`--callback: "${callback}" is not a URL`, 'for example: --callback https://me.example.com')
  const waitS = Number(options.wait ?? '30')
  if (!Number.isFinite(waitS) || waitS < 0) throw usage('--wait takes seconds', 'for example: --wait 60')
  const listenPort = Number(options.listen ?? '0')
  if (!Number.isInteger(listenPort) || listenPort < 0 || listenPort > 65_535)
    throw usage(
      '--listen takes a port',
      'for example: --listen 8080, behind --callback https://me.example.com',
    )
  const { verifyChorusAgent, verifyChorusService } = await import('../../../setup/verify-chorus.ts')
  const to = { url, allowPrivate: options.allowPrivate === true }
  const checks =
    options.service === true
      ? verifyChorusService(to)
      : verifyChorusAgent({
          ...to,
          waitMs: waitS * 1_000,
          ...(callback === undefined ? {} : { publicBase: callback.replace(/\/$/, '') }),
          ...(options.listen === undefined ? {} : { listenPort }),
        })
  const { paint } = context
  const mark = { holds: paint.green('✓'), fails: paint.red('✗'), unknown: paint.yellow('?') }
  let failed = false
  for await (const check of checks) {
    failed ||= check.result === 'fails'
    if (context.json) await context.printJson(check)
    else
      await context.print(
        `${mark[check.result]} ${check.what}${check.detail === '' ? '' : paint.dim(` (${check.detail})`)}`,
      )
  }
  return failed ? 1 : 0
}
