// The console's frame: the signed-in person, the navigation, and the state of the connection.
import type { ComponentType, JSX } from 'preact'
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { StatusReport } from '../../src/contract/operator/views.ts'
import { CloseIcon, Logo, MoreIcon } from '../shared/icons.tsx'
import { oneLine } from '../shared/text.ts'
import { api } from './api.ts'
import { ConsoleContext, type ConsoleValue, type Me, useConsole } from './console-context.ts'
import { ConsoleGate } from './gate.tsx'
import { KeyHelp, type PageKey, useKeys } from './keys.tsx'
import { createLive } from './live.ts'
import { AgentsPage } from './pages/agents.tsx'
import { ApprovalsPage } from './pages/approvals.tsx'
import { ConfigPage } from './pages/config.tsx'
import { ConversationsPage } from './pages/conversations.tsx'
import { NowPage } from './pages/now.tsx'
import { OutboxPage } from './pages/outbox.tsx'
import { PeoplePage } from './pages/people.tsx'
import { TryPage } from './pages/try.tsx'
import { TurnsPage } from './pages/turns.tsx'
import { type Asked, useAsked, useLink } from './queries.ts'
import { hrefOf, type Route, useRoute } from './route.ts'
import { type Session, useSession } from './session.ts'
import { words } from './words.ts'

export interface PageProps {
  readonly route: Route
  readonly status: Asked<StatusReport>
}

interface Page extends PageKey {
  readonly action: string
  readonly view: ComponentType<PageProps>
  readonly waiting?: (status: StatusReport) => number
}

const { frame } = words

const PAGES: readonly Page[] = [
  { page: 'now', title: frame.titles.now, key: 'n', action: 'admin.read', view: NowPage },
  {
    ...{ page: 'conversations', title: frame.titles.conversations, key: 'c', action: 'admin.read' },
    view: ConversationsPage,
    waiting: (status) => status.asked ?? 0,
  },
  {
    ...{ page: 'approvals', title: frame.titles.approvals, key: 'a', action: 'approval.read' },
    view: ApprovalsPage,
    waiting: (status) => status.approvals.pending,
  },
  { page: 'people', title: frame.titles.people, key: 'p', action: 'admin.read', view: PeoplePage },
  { page: 'agents', title: frame.titles.agents, key: 'g', action: 'admin.read', view: AgentsPage },
  {
    ...{ page: 'outbox', title: frame.titles.outbox, key: 'o', action: 'admin.read' },
    view: OutboxPage,
    waiting: (status) => status.stuck.failed + status.stuck.unknown,
  },
  { page: 'turns', title: frame.titles.turns, key: 't', action: 'admin.read', view: TurnsPage },
  { page: 'try', title: frame.titles.try, key: 'y', action: 'rights.give', view: TryPage },
  { page: 'config', title: frame.titles.config, key: 'f', action: 'admin.read', view: ConfigPage },
]

export function App(): JSX.Element {
  const session = useSession()
  return session.phase === 'open' && session.me !== null ? (
    <SignedIn session={session} me={session.me} />
  ) : (
    <ConsoleGate phase={session.phase} />
  )
}

function SignedIn({ session, me }: { readonly session: Session; readonly me: Me }): JSX.Element {
  const [live] = useState(createLive)
  const { check } = session
  const latest = useRef(check)
  latest.current = check
  useEffect(() => {
    live.start()
    const forget = live.listen((kind) => {
      // Roles and sessions are read again when the stream is lost or rights changed.
      if (kind === 'lost' || kind === 'access' || kind === 'config') latest.current()
    })
    return () => {
      forget()
      live.stop()
    }
  }, [live])
  const value: ConsoleValue = useMemo(
    () => ({ me, live, can: (action) => me.may.includes(action) }),
    [me, live],
  )
  return (
    <ConsoleContext.Provider value={value}>
      <Frame leave={session.leave} />
    </ConsoleContext.Provider>
  )
}

function Frame({ leave }: { readonly leave: () => void }): JSX.Element {
  const { can } = useConsole()
  const route = useRoute()
  const status = useAsked(can('admin.read') ? api('GET /api/status') : null, [
    ...['turns', 'sends', 'turn', 'approval', 'access', 'config', 'nodes', 'takeover'],
  ])
  const [help, setHelp] = useState(false)
  const [menu, setMenu] = useState(false)
  const pages = PAGES.filter((one) => can(one.action))
  const page = pages.find((one) => one.page === route.page) ?? pages[0]
  const openHelp = useCallback((open: boolean) => setHelp(open), [])
  useKeys(pages, openHelp)
  useEffect(() => {
    document.title = page === undefined ? 'Switchboard' : `${page.title} · Switchboard`
    setMenu(false)
  }, [page])
  const View = page?.view
  return (
    <div class="shell">
      <button type="button" class="skip" onClick={skip}>
        {frame.skip}
      </button>
      <header class="top">
        <Logo />
        <strong class="top-title">{page?.title ?? 'Switchboard'}</strong>
        <Lamp />
        <button
          type="button"
          class="icon-button"
          aria-label={menu ? frame.closeMenu : frame.menu}
          aria-expanded={menu}
          aria-controls="side"
          onClick={() => setMenu(!menu)}
        >
          {menu ? <CloseIcon /> : <MoreIcon />}
        </button>
      </header>
      <aside class={`side${menu ? ' side-open' : ''}`} id="side" aria-label={frame.label}>
        <div class="side-head">
          <Logo />
          <div>
            <strong>Switchboard</strong>
            <span class="quiet">{oneLine(status.data?.instance.name ?? '', 30)}</span>
          </div>
        </div>
        <nav aria-label={frame.pages}>
          <ul>
            {pages.map((one) => (
              <NavLink key={one.page} page={one} here={one === page} status={status.data} />
            ))}
          </ul>
        </nav>
        <SideFoot leave={leave} onKeys={() => setHelp(true)} />
      </aside>
      <main id="main" tabIndex={-1}>
        {View === undefined ? (
          <p class="empty">{frame.notForRole}</p>
        ) : (
          <View key={page?.page} route={route} status={status} />
        )}
      </main>
      {help && <KeyHelp pages={pages} onClose={() => setHelp(false)} />}
    </div>
  )
}

function skip(): void {
  document.getElementById('main')?.focus()
}

function NavLink(props: {
  readonly page: Page
  readonly here: boolean
  readonly status: StatusReport | null
}): JSX.Element {
  const { page, here, status } = props
  const waiting = status === null ? 0 : (page.waiting?.(status) ?? 0)
  return (
    <li>
      <a href={hrefOf(page.page)} aria-current={here ? 'page' : undefined}>
        <span>{page.title}</span>
        {waiting > 0 && (
          <span class="badge">
            {waiting > 99 ? '99+' : waiting}
            <span class="hidden"> {frame.waiting}</span>
          </span>
        )}
      </a>
    </li>
  )
}

function SideFoot({
  leave,
  onKeys,
}: {
  readonly leave: () => void
  readonly onKeys: () => void
}): JSX.Element {
  const { me } = useConsole()
  return (
    <div class="side-foot">
      <Lamp isSpoken />
      <p>
        <bdi>{oneLine(me.user, 30)}</bdi>{' '}
        <span class="quiet">{me.roles.length === 0 ? frame.noRole : me.roles.join(', ')}</span>
      </p>
      <div class="buttons">
        <button type="button" class="link" onClick={onKeys}>
          {frame.keys} <kbd>?</kbd>
        </button>
        <button type="button" class="link" onClick={leave}>
          {frame.signOut}
        </button>
      </div>
    </div>
  )
}

function Lamp({ isSpoken = false }: { readonly isSpoken?: boolean }): JSX.Element {
  const link = useLink()
  const text = frame.link[link]
  return (
    <span class={`lamp-line lamp-${link}`} role={isSpoken ? 'status' : undefined} title={text}>
      <span class="lamp" aria-hidden="true" />
      {isSpoken ? text : <span class="hidden">{text}</span>}
    </span>
  )
}
