// `switchboard token`: bearer tokens. A token is shown once, when it is minted; only its hash is kept.
import { suggestion } from '../../../config/schema/nearest.ts'
import type { TokenView } from '../../../gateway/access/token-views.ts'
import { wordsIn } from '../../../words/index.ts'
import type { Run } from '../../context.ts'
import { usage } from '../../failure.ts'
import { printList } from '../../list.ts'
import type { Column } from '../../output/table.ts'
import { oneLine } from '../../output/text.ts'
import { parseDuration, relativeTime } from '../../output/time.ts'

export interface MintOptions {
  readonly kind: string
  readonly agent?: string
  readonly session?: string
  readonly user?: string
  readonly expires?: string
  readonly label?: string
}

/** Which option each kind of token needs. */
const KINDS: Readonly<Record<string, 'agent' | 'user' | null>> = {
  agent: 'agent',
  notify: 'agent',
  user: 'user',
  admin: null,
}

/** The state of a token now. */
export function tokenState({ revoked, expires_at }: TokenView, now: number): 'good' | 'revoked' | 'expired' {
  if (revoked) return 'revoked'
  return expires_at !== null && Date.parse(expires_at) <= now ? 'expired' : 'good'
}

/** `?`: it is older than the record of uses, or the daemon does not report them. */
function lastUse({ last_used_at, never_used }: Partial<TokenView>, now: number): string {
  if (last_used_at) return relativeTime(last_used_at, now)
  return never_used ? wordsIn().setupCommands.tokens.never : '?'
}

export const listTokens: Run<{ readonly all?: boolean }> = (context, _args, options) =>
  context.reading(async (api) => {
    const now = context.terminal.now()
    const words = wordsIn().setupCommands.tokens
    const columns: readonly Column<TokenView>[] = [
      { title: 'ID', value: (row) => row.id },
      { title: 'KIND', value: (row) => row.kind },
      { title: 'STATE', value: (row) => tokenState(row, now) },
      { title: 'CREATED', value: (row) => relativeTime(row.created_at, now) },
      {
        title: 'EXPIRES',
        value: (row) => (row.expires_at === null ? words.never : relativeTime(row.expires_at, now)),
      },
      { title: 'LAST USED', value: (row) => lastUse(row, now) },
      {
        title: 'FOR',
        value: (row) =>
          Object.entries(row.scope)
            .map(([name, value]) => `${name}=${value}`)
            .join(' '),
        givesWay: 1,
      },
    ]
    const query = options.all === true ? ({ all: 'true' } as const) : {}
    await printList(context, (await api.ask('GET /api/tokens', { query })).items, columns, {
      empty: wordsIn().commandLine.empty.tokens,
    })
    return 0
  })

export const mintToken: Run<MintOptions> = async (context, _args, options) => {
  checkKind(options)
  const scope: Record<string, string> = {}
  for (const name of ['agent', 'session', 'user', 'label'] as const) {
    const value = options[name]
    if (value !== undefined) scope[name] = value
  }
  const ttlMs = options.expires === undefined ? null : parseDuration(options.expires, '--expires')
  if (ttlMs !== null && ttlMs < 1)
    throw usage('--expires: it would be over at once', 'for example: --expires 90d')
  const daemon = await context.daemon()
  const minted = await daemon.ask('POST /api/tokens', {
    body: { kind: options.kind, scope, ttl_ms: ttlMs },
  })
  if (context.json) {
    await context.printJson({ token: minted.token, id: minted.id, expires_at: minted.expires_at })
    return 0
  }
  await context.print(minted.token)
  const { id, expires_at } = minted
  const { untilRevoked, expires } = wordsIn().setupCommands.tokens
  const about =
    expires_at === null
      ? untilRevoked({ id })
      : expires({ id, expires: relativeTime(expires_at, context.terminal.now()) })
  context.note(context.paint.dim(about))
  return 0
}

export const revokeToken: Run = async (context, [id = '']) => {
  const daemon = await context.daemon()
  await daemon.ask('DELETE /api/tokens/{id}', { path: { id } })
  if (context.json) await context.printJson({ ok: true, id })
  else await context.print(wordsIn().setupCommands.tokens.revoked({ id: oneLine(id) }))
  return 0
}

function checkKind(options: MintOptions): void {
  const needs = KINDS[options.kind]
  if (needs === undefined) {
    throw usage(
      `--kind: "${options.kind}" is not a kind of token`,
      suggestion(options.kind, Object.keys(KINDS)),
    )
  }
  const narrowed = (['agent', 'session', 'user'] as const).find((name) => options[name] !== undefined)
  if (options.kind === 'admin' && narrowed !== undefined) {
    throw usage(
      `a token of kind "admin" is for everything: --${narrowed} does not narrow it`,
      `leave --${narrowed} out, or mint one of kind agent or user`,
    )
  }
  if (needs !== null && options[needs] === undefined) {
    throw usage(`a token of kind "${options.kind}" needs --${needs}`, `add: --${needs} ID`)
  }
}
