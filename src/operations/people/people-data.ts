// People's own data: everything that a person said, written out or erased. A person is a user of the
// configuration, or one identity `integration:sender`.
import { readFile } from 'node:fs/promises'
import {
  type Attachment,
  asSwitchboardError,
  defined,
  type ErasedPerson,
  type Identity,
  iso,
  PERSON_START,
  type PersonCursor,
  type PersonLine,
  type Settings,
  type Store,
  SwitchboardError,
  type TurnRow,
} from '../../contract/index.ts'
import type { Links } from '../../core/links.ts'
import { usersInForce } from '../../core/people/users.ts'
import { approvalView } from '../approval-view.ts'
import { sendView } from '../send-view.ts'
import { turnView } from '../turns/turn-view.ts'
import { pairingView } from './pairings.ts'

interface Person {
  readonly identities: readonly Identity[]
  /** Whose notifications are theirs, too; null: nobody's. */
  readonly user: string | null
}

export async function personOf(
  who: string,
  settings: Settings,
  store: Pick<Store, 'grants'>,
): Promise<Person> {
  const granted = await store.grants()
  const book = {
    has: (integration: string, sender: string, right: string) =>
      granted.some((one) => one.integration === integration && one.sender === sender && one.right === right),
    senders: (integration: string, right: string) =>
      granted
        .filter((one) => one.integration === integration && one.right === right)
        .map((one) => one.sender),
  }
  const users = usersInForce(settings, book)
  const named = users.find((one) => one.id === who)?.identities ?? [who]
  const identities = named.map((written) => identityOf(written, settings))
  // Notifications are a user's: of one identity they are its user's only if that is the only one.
  const isOnly = (one: { readonly identities: readonly string[] }) =>
    one.identities.length === 1 && one.identities[0] === who
  const user = users.find((one) => one.id === who || isOnly(one))?.id ?? null
  return { identities, user }
}

/** The id of an integration may hold a colon itself (`channel:slack@kate`): the longest that is known counts. */
function identityOf(written: string, settings: Settings): Identity {
  const known = settings.integrations
    .map((one) => one.id)
    .filter((id) => written.startsWith(`${id}:`))
    .sort((one, other) => other.length - one.length)[0]
  const end = known?.length ?? written.indexOf(':')
  if (end <= 0 || end === written.length - 1)
    throw new SwitchboardError('input_invalid', `"${written}" is neither a user nor integration:sender`, {
      hint: 'write the id of a user of the configuration, or an identity such as kate_tg:412587349',
    })
  return { integration: written.slice(0, end), sender: written.slice(end + 1) }
}

/** In windows: a long history needs no long memory. */
export async function* exportPerson(
  who: string,
  settings: Settings,
  store: Pick<Store, 'person' | 'grants' | 'pairings' | 'turnEvents' | 'turnSteps' | 'notifications'>,
  /** What they sent, byte by byte; absent: only its name. */
  bytesOf?: FileBytes,
): AsyncGenerator<PersonLine> {
  const { identities, user } = await personOf(who, settings, store)
  for (const { integration, sender } of identities) yield { kind: 'identity', integration, sender }
  const isTheirs = (row: { readonly integration: string; readonly sender: string }) =>
    identities.some((one) => one.integration === row.integration && one.sender === row.sender)
  for (const { at, ...grant } of (await store.grants()).filter(isTheirs))
    yield { kind: 'grant', ...grant, at: iso(at) }
  for (const row of (await store.pairings()).filter(isTheirs)) yield { kind: 'pairing', ...pairingView(row) }
  for (const identity of identities) {
    for (let cursor: PersonCursor | null = PERSON_START; cursor !== null; ) {
      const window: Awaited<ReturnType<Store['person']>> = await store.person(identity, cursor)
      for (const row of window.turns) {
        const events = await store.turnEvents(row.id)
        const steps = await store.turnSteps(row.id)
        yield { kind: 'turn', ...turnView(row), body: row.body, events, steps }
        if (bytesOf) for (const file of row.body?.attachments ?? []) yield await fileLine(row, file, bytesOf)
      }
      for (const row of window.approvals) yield { kind: 'approval', ...approvalView(row) }
      for (const row of window.sends) yield { kind: 'send', ...sendView(row), op: row.op }
      cursor = window.next
    }
  }
  if (user !== null) yield* notificationLines(user, store)
}

export type FileBytes = (
  integration: string,
  file: Attachment,
) => Promise<{ readonly name: string; readonly mime: string; readonly bytes: Uint8Array }>

/** The bytes of a file, from the integration that received it. */
export function fileBytes(links: Pick<Links, 'get'>): FileBytes {
  return async (integration, file) => {
    const files = links.get(integration)?.adapter.files
    if (!files?.download)
      throw new SwitchboardError(
        'not_found',
        `the integration ${integration} does not run, or keeps no files`,
      )
    const { path, name, mime } = await files.download(file)
    return { name, mime, bytes: await readFile(path) }
  }
}

/** One that cannot be had any more is said to be missing, and why. */
async function fileLine(turn: TurnRow, file: Attachment, bytesOf: FileBytes): Promise<PersonLine> {
  const about = { kind: 'file', turn: turn.id, attachment: file.id } as const
  try {
    const { name, mime, bytes } = await bytesOf(turn.integration, file)
    return { ...about, name, mime, size: bytes.length, base64: Buffer.from(bytes).toString('base64') }
  } catch (thrown) {
    return { ...about, name: file.name ?? null, missing: asSwitchboardError(thrown).message }
  }
}

async function* notificationLines(
  user: string,
  store: Pick<Store, 'notifications'>,
): AsyncGenerator<PersonLine> {
  for (let before: string | undefined; ; ) {
    const page = await store.notifications({ user, limit: PAGE, ...defined({ before }) })
    for (const { at, ...row } of page) yield { kind: 'notification', ...row, at: iso(at) }
    if (page.length < PAGE) return
    before = page.at(-1)?.id
  }
}

const PAGE = 500

export interface EraseDeps {
  readonly store: Store
  readonly settings: () => Settings
  /** Ends an open turn as an operator would. */
  readonly cancel: (turn: string, by: string) => Promise<unknown>
  /** Removes a person's files where the integration keeps any. Null: it does not run. */
  readonly forgetFiles: (who: Identity, attachments: readonly Attachment[]) => Promise<number | null>
  /** Rights that were granted are no longer remembered. */
  readonly grantsChanged: () => Promise<void>
}

export function createEraser(deps: EraseDeps) {
  const { store } = deps

  /** What is open is ended first, and files go before the messages that name them: a crash leaves what leads to the rest. */
  const prepare = async (identity: Identity, by: string): Promise<number | null> => {
    const attachments: Attachment[] = []
    for (let cursor: PersonCursor | null = PERSON_START; cursor !== null; ) {
      const { turns, next }: Awaited<ReturnType<Store['person']>> = await store.person(identity, cursor)
      for (const turn of turns) {
        if (['queued', 'handed', 'seen'].includes(turn.state))
          await deps.cancel(turn.id, by).catch(() => null)
        attachments.push(...(turn.body?.attachments ?? []))
      }
      cursor = next
    }
    const removed = await deps.forgetFiles(identity, attachments)
    // Before the bodies go that lead to them: the other nodes have copies on disks of their own.
    if (store.shared)
      await store.keepFileOrder({ ...identity, refs: [...new Set(attachments.map(({ ref }) => ref))] })
    return removed
  }

  return async (who: string, options: { readonly revoke: boolean }, by: string): Promise<ErasedPerson> => {
    const { identities, user } = await personOf(who, deps.settings(), store)
    const gone = { turns: 0, sends: 0, approvals: 0, files: 0, notifications: 0, grants_revoked: 0, open: 0 }
    const left: string[] = []
    for (const identity of identities) {
      const files = await prepare(identity, by)
      if (files === null) left.push(identity.integration)
      gone.files += files ?? 0
      for (let cursor: PersonCursor | null = PERSON_START; cursor !== null; ) {
        const erased: Awaited<ReturnType<Store['erasePerson']>> = await store.erasePerson(
          identity,
          cursor,
          by,
        )
        gone.turns += erased.turns
        gone.sends += erased.sends
        gone.approvals += erased.approvals
        gone.open += erased.open
        cursor = erased.next
      }
      if (!options.revoke) continue
      const theirs = (await store.grants()).filter(
        ({ integration, sender }) => integration === identity.integration && sender === identity.sender,
      )
      for (const { right } of theirs)
        if (await store.revoke(identity.integration, identity.sender, right, by)) gone.grants_revoked += 1
    }
    for (let some = PAGE; user !== null && some === PAGE; gone.notifications += some)
      some = await store.eraseNotifications(user, PAGE)
    await deps.grantsChanged()
    await store.file?.wipeFree?.()
    return {
      identities: identities.map(({ integration, sender }) => `${integration}:${sender}`),
      ...gone,
      files_left: left,
    }
  }
}
