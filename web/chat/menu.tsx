// The header's menu: a link for another device, and signing out.
import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Filled } from '../shared/filled.tsx'
import { MoreIcon } from '../shared/icons.tsx'
import { oneLine } from '../shared/text.ts'
import { Connections } from './connections.tsx'
import type { FreshLink } from './link-for.ts'
import type { Connection, Me, Session } from './session.ts'
import { words } from './words.ts'

export function Menu({ session, me }: { readonly session: Session; readonly me: Me }): JSX.Element {
  const [open, setOpen] = useState(false)
  const [link, setLink] = useState<FreshLink | { readonly problem: string } | null>(null)
  const [connections, setConnections] = useState<readonly Connection[] | null>(null)
  const root = useRef<HTMLDivElement>(null)
  const opener = useRef<HTMLButtonElement>(null)

  useEffect(() => {
    if (!open) return
    const away = (event: Event): void => {
      if (event instanceof KeyboardEvent) {
        if (event.key !== 'Escape') return
        opener.current?.focus()
      } else if (event.target instanceof Node && root.current?.contains(event.target)) return
      setOpen(false)
    }
    document.addEventListener('pointerdown', away)
    document.addEventListener('keydown', away)
    return () => {
      document.removeEventListener('pointerdown', away)
      document.removeEventListener('keydown', away)
    }
  }, [open])

  const freshLink = (): void => {
    setOpen(false)
    session.freshLink().then(
      (fresh) => setLink(fresh),
      (error: unknown) => setLink({ problem: error instanceof Error ? error.message : String(error) }),
    )
  }

  return (
    <div class="menu" ref={root}>
      <button
        ref={opener}
        type="button"
        class="icon-button"
        aria-label={words.menu.label}
        aria-expanded={open}
        aria-controls="menu-items"
        onClick={() => setOpen(!open)}
      >
        <MoreIcon />
      </button>
      {open && (
        <div class="menu-items" id="menu-items">
          <p class="menu-who">
            <Filled
              text={words.menu.signedInAs}
              parts={{ name: <bdi>{oneLine(me.name ?? me.sender, 40)}</bdi> }}
            />
          </p>
          <button type="button" onClick={freshLink}>
            {words.menu.linkDevice}
          </button>
          <button
            type="button"
            onClick={() => {
              setOpen(false)
              void session.connections().then((found) => setConnections(found ?? []))
            }}
          >
            {words.menu.connections}
          </button>
          <button type="button" onClick={() => void session.logout()}>
            {words.menu.signOut}
          </button>
        </div>
      )}
      {connections !== null && <Connections connections={connections} onClose={() => setConnections(null)} />}
      {link !== null && <LinkDialog link={link} onClose={() => setLink(null)} />}
    </div>
  )
}

function LinkDialog({
  link,
  onClose,
}: {
  readonly link: FreshLink | { readonly problem: string }
  readonly onClose: () => void
}): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null)
  const [copied, setCopied] = useState(false)
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog ref={dialog} class="dialog" aria-labelledby="link-title" onClose={onClose}>
      <h2 id="link-title">{words.menu.linkDevice}</h2>
      {'problem' in link ? (
        <p class="tone-bad" role="alert">
          {link.problem}
        </p>
      ) : (
        <>
          <p>{words.menu.scan}</p>
          <QrCode text={link.href} />
          {link.warning !== null && (
            <p class="tone-warn" role="alert">
              {words.menu.unreachable({ why: link.warning })}
            </p>
          )}
          <input
            class="link-field"
            readOnly
            value={link.href}
            aria-label={words.menu.link}
            onFocus={(event) => event.currentTarget.select()}
          />
        </>
      )}
      <div class="buttons">
        {'href' in link && navigator.clipboard !== undefined && (
          <button
            type="button"
            class="button button-main"
            onClick={() => void navigator.clipboard.writeText(link.href).then(() => setCopied(true))}
          >
            {copied ? words.menu.copied : words.menu.copy}
          </button>
        )}
        <button type="button" class="button" onClick={() => dialog.current?.close()}>
          {words.menu.close}
        </button>
      </div>
    </dialog>
  )
}

/** Draws the code as one path. Its library is loaded on demand. Dark on light, as scanners expect it. */
function QrCode({ text }: { readonly text: string }): JSX.Element | null {
  const [code, setCode] = useState<{ readonly size: number; readonly path: string } | null>(null)
  useEffect(() => {
    let stale = false
    void import('uqr').then(
      ({ encode }) => {
        const { size, data } = encode(text, { border: 2 })
        const path = data
          .flatMap((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : '')))
          .join('')
        if (!stale) setCode({ size, path })
      },
      // The link itself is still shown.
      () => undefined,
    )
    return () => {
      stale = true
    }
  }, [text])
  if (code === null) return null
  return (
    <svg class="qr" role="img" aria-label={words.menu.qr} viewBox={`0 0 ${code.size} ${code.size}`}>
      <rect width={code.size} height={code.size} fill="#fff" />
      <path d={code.path} fill="#000" shape-rendering="crispEdges" />
    </svg>
  )
}
