// One IMAP connection of the fake: its login, its open folder, and the commands that mail clients use. Sequence numbers
// follow the client's view: the state of the folder that the server announced last. The protocol requires that.
import { fetched, searches } from './imap-mail.ts'
import { type Command, inSet, type Word } from './imap-words.ts'
import type { FakeFolder, FakeMail, Mailbox, MailWorld } from './mail-world.ts'

export const CAPABILITIES =
  'IMAP4rev1 LITERAL+ SASL-IR AUTH=PLAIN AUTH=XOAUTH2 ID NAMESPACE IDLE MOVE UIDPLUS SPECIAL-USE'
const FLAGS = '\\Answered \\Flagged \\Deleted \\Seen \\Draft'

/** `untagged` holds the lines before the tagged line. `done` is that line without its tag. */
export interface Answer {
  readonly untagged?: readonly (string | Buffer)[]
  readonly done: string
}

export interface ImapSession {
  run(command: Command): Answer
  /** The changes in the open folder since the last announcement. */
  news(): readonly string[]
}

class No extends Error {}

export interface Credentials {
  readonly password: string
  /** Whether an OAuth2 access token is valid. */
  readonly isToken: (token: string) => boolean
}

/** The user and token of XOAUTH2. IMAP and SMTP carry them in the same form. */
export function bearerIn(given: string): { readonly user: string; readonly token: string } {
  const fields = Buffer.from(given, 'base64').toString().split('\u0001')
  const after = (start: string) => fields.find((one) => one.startsWith(start))?.slice(start.length) ?? ''
  const [user, token] = [after('user='), after('auth=Bearer ')]
  return { user, token }
}

export function createImapSession(world: MailWorld, { password, isToken }: Credentials): ImapSession {
  let box: Mailbox | null = null
  let open: FakeFolder | null = null
  let view: readonly FakeMail[] = []

  const signIn = (user: string, secret: string): Answer => {
    if (secret !== password) throw new No('[AUTHENTICATIONFAILED] user or password is wrong')
    return signedInAs(user)
  }
  const signedInAs = (user: string): Answer => {
    if (!user.includes('@')) throw new No('[AUTHENTICATIONFAILED] that is no address')
    box = world.mailbox(user)
    return { untagged: [`* CAPABILITY ${CAPABILITIES}`], done: 'OK signed in' }
  }
  const signedIn = (): Mailbox => {
    if (box === null) throw new No('sign in first')
    return box
  }
  const folderNamed = (name: string): FakeFolder => {
    const found = signedIn().folders.get(name.toUpperCase() === 'INBOX' ? 'INBOX' : name)
    if (found === undefined) throw new No('[TRYCREATE] there is no such folder')
    return found
  }
  const selected = (): FakeFolder => {
    if (open === null) throw new No('no folder is open')
    return open
  }

  const news = (): readonly string[] => {
    if (open === null) return []
    const now = new Set(open.mails.map(({ uid }) => uid))
    const lines: string[] = []
    for (let at = view.length - 1; at >= 0; at--)
      if (!now.has(view[at]?.uid ?? 0)) lines.push(`* ${at + 1} EXPUNGE`)
    const isMore = open.mails.some(({ uid }) => uid > (view.at(-1)?.uid ?? 0))
    view = open.mails
    return isMore ? [...lines, `* ${view.length} EXISTS`] : lines
  }

  const select = (name: string): Answer => {
    const folder = folderNamed(name)
    open = folder
    view = folder.mails
    return {
      untagged: [
        `* FLAGS (${FLAGS})`,
        `* OK [PERMANENTFLAGS (${FLAGS} \\*)] any keyword`,
        `* ${view.length} EXISTS`,
        '* 0 RECENT',
        `* OK [UIDVALIDITY ${folder.uidValidity}] valid`,
        `* OK [UIDNEXT ${folder.uidNext}] next`,
      ],
      done: 'OK [READ-WRITE] open',
    }
  }

  const chosen = (
    set: string,
    byUid: boolean,
  ): readonly { readonly mail: FakeMail; readonly seq: number }[] => {
    const within = inSet(set, byUid ? (view.at(-1)?.uid ?? 0) : view.length)
    return view.flatMap((mail, at) => (within(byUid ? mail.uid : at + 1) ? [{ mail, seq: at + 1 }] : []))
  }

  const fetch = ([set, items]: readonly Word[], byUid: boolean): Answer => {
    selected()
    const asked = [items ?? []].flat()
    const all =
      byUid && !asked.some((item) => String(item).toUpperCase() === 'UID') ? ['UID', ...asked] : asked
    return {
      untagged: chosen(String(set), byUid).map(({ mail, seq }) =>
        Buffer.concat([Buffer.from(`* ${seq} FETCH (`), fetched(mail, all), Buffer.from(')')]),
      ),
      done: 'OK fetched',
    }
  }

  const search = (words: readonly Word[], byUid: boolean): Answer => {
    selected()
    const asked = String(words[0]).toUpperCase() === 'RETURN' ? words.slice(2) : words
    const isFound = searches(asked, { uid: view.at(-1)?.uid ?? 0, seq: view.length })
    const found = view.flatMap((mail, at) => (isFound(mail, at + 1) ? [byUid ? mail.uid : at + 1] : []))
    return { untagged: [['* SEARCH', ...found].join(' ')], done: 'OK searched' }
  }

  const store = ([set, how, flags]: readonly Word[], byUid: boolean): Answer => {
    selected()
    const names = [flags ?? []].flat().map(String)
    const sign = String(how)[0]
    const lines = chosen(String(set), byUid).map(({ mail, seq }) => {
      if (sign !== '+' && sign !== '-') mail.flags.clear()
      for (const name of names) sign === '-' ? mail.flags.delete(name) : mail.flags.add(name)
      return `* ${seq} FETCH (UID ${mail.uid} FLAGS (${[...mail.flags].join(' ')}))`
    })
    return { untagged: String(how).toUpperCase().endsWith('.SILENT') ? [] : lines, done: 'OK stored' }
  }

  const carry = ([set, name]: readonly Word[], byUid: boolean, move: boolean): Answer => {
    const from = selected()
    const to = folderNamed(String(name))
    const mails = chosen(String(set), byUid).map(({ mail }) => mail)
    if (mails.length === 0) return { done: 'OK nothing' }
    const made = mails.map(({ raw, flags }) => world.append(to, { raw, flags: [...flags] }))
    const uids = (list: readonly FakeMail[]) => list.map(({ uid }) => uid).join(',')
    const code = `[COPYUID ${to.uidValidity} ${uids(mails)} ${uids(made)}]`
    if (!move) return { done: `OK ${code} copied` }
    world.remove(from, new Set(mails.map(({ uid }) => uid)))
    return { untagged: [`* OK ${code} moved`, ...news()], done: 'OK moved' }
  }

  const append = (words: readonly Word[]): Answer => {
    const folder = folderNamed(String(words[0]))
    const flags = Array.isArray(words[1]) ? words[1].map(String) : []
    const mail = world.append(folder, { raw: Buffer.from(String(words.at(-1)), 'latin1'), flags })
    return { done: `OK [APPENDUID ${folder.uidValidity} ${mail.uid}] kept` }
  }

  const expunge = (): Answer => {
    const folder = selected()
    world.remove(
      folder,
      new Set(folder.mails.flatMap(({ uid, flags }) => (flags.has('\\Deleted') ? [uid] : []))),
    )
    return { untagged: news(), done: 'OK gone' }
  }

  const list = (command: string, pattern: string): Answer => ({
    untagged:
      pattern === ''
        ? [`* ${command} (\\Noselect) "/" ""`]
        : [...signedIn().folders.values()].map(
            ({ name, use }) => `* ${command} (\\HasNoChildren${use ? ` ${use}` : ''}) "/" "${name}"`,
          ),
    done: 'OK listed',
  })

  const status = (name: string): Answer => {
    const { mails, uidNext, uidValidity } = folderNamed(name)
    const unseen = mails.filter(({ flags }) => !flags.has('\\Seen')).length
    const told = `MESSAGES ${mails.length} UIDNEXT ${uidNext} UIDVALIDITY ${uidValidity} UNSEEN ${unseen} RECENT 0`
    return { untagged: [`* STATUS "${name}" (${told})`], done: 'OK status' }
  }

  const authenticate = ([way, given]: readonly Word[]): Answer => {
    if (String(way).toUpperCase() === 'XOAUTH2') {
      const { user, token } = bearerIn(String(given ?? ''))
      if (isToken(token)) return signedInAs(user)
      throw new No('[AUTHENTICATIONFAILED] the token does not count')
    }
    const [, user = '', secret = ''] = Buffer.from(String(given ?? ''), 'base64')
      .toString()
      .split('\u0000')
    return signIn(user, secret)
  }

  const create = (name: string): Answer => {
    const { folders } = signedIn()
    if (folders.has(name) || folders.size >= 100) throw new No('[ALREADYEXISTS] it cannot be made')
    folders.set(name, { name, uidValidity: 5_000 + folders.size, uidNext: 1, mails: [] })
    return { done: 'OK made' }
  }

  const answer = ({ name, words }: Command): Answer => {
    const byUid = name.startsWith('UID ')
    const first = String(words[0] ?? '')
    switch (byUid ? name.slice(4) : name) {
      case 'CAPABILITY':
        return { untagged: [`* CAPABILITY ${CAPABILITIES}`], done: 'OK that is all' }
      case 'ID':
        return { untagged: ['* ID ("name" "switchboard emulate email")'], done: 'OK hello' }
      case 'LOGIN':
        return signIn(first, String(words[1] ?? ''))
      case 'AUTHENTICATE':
        return authenticate(words)
      case 'NAMESPACE':
        return { untagged: ['* NAMESPACE (("" "/")) NIL NIL'], done: 'OK namespace' }
      case 'NOOP':
      case 'CHECK':
        return { untagged: news(), done: 'OK still here' }
      case 'LIST':
      case 'LSUB':
        return list(name, String(words.findLast((word) => typeof word === 'string') ?? ''))
      case 'SELECT':
      case 'EXAMINE':
        return select(first)
      case 'CLOSE':
      case 'UNSELECT':
        open = null
        return { done: 'OK closed' }
      case 'STATUS':
        return status(first)
      case 'CREATE':
        return create(first)
      case 'APPEND':
        return append(words)
      case 'FETCH':
        return fetch(words, byUid)
      case 'SEARCH':
        return search(words, byUid)
      case 'STORE':
        return store(words, byUid)
      case 'COPY':
      case 'MOVE':
        return carry(words, byUid, name.endsWith('MOVE'))
      case 'EXPUNGE':
        return expunge()
      case 'SUBSCRIBE':
      case 'ENABLE':
        return { done: 'OK so be it' }
      default:
        return { done: `BAD ${name.slice(0, 40)} is not emulated` }
    }
  }

  return {
    news,
    run(command) {
      try {
        // A command by UID may announce changes first. With sequence numbers that would change the meaning of the
        // command.
        const told = command.name.startsWith('UID ') ? news() : []
        const { untagged = [], done } = answer(command)
        return { untagged: [...told, ...untagged], done }
      } catch (thrown) {
        const said = thrown instanceof Error ? thrown.message : 'no'
        return { done: `${thrown instanceof No ? 'NO' : 'BAD'} ${said}` }
      }
    },
  }
}
