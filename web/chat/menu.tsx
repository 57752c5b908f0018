// The head's menu: a link for another device, and the way out.
import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { MoreIcon } from '../shared/icons.tsx'
import { oneLine } from '../shared/text.ts'
import { Connections } from './connections.tsx'
import type { Connection, Me, Session } from './session.ts'

export function Menu({ session, me }: { readonly session: Session; readonly me: Me }): JSX.Element {
  const [open, setOpen] = useState(false)
  const [link, setLink] = useState<{ readonly href: string } | { readonly problem: string } | null>(null)
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
      (href) => setLink({ href }),
      (error: unknown) => setLink({ problem: error instanceof Error ? error.message : String(error) }),
    )
  }

  return (
    <div class="menu" ref={root}>
      <button
        ref={opener}
        type="button"
        class="icon-button"
        aria-label="Menu"
        aria-expanded={open}
        aria-controls="menu-items"
        onClick={() => setOpen(!open)}
      >
        <MoreIcon />
      </button>
      {open && (
        <div class="menu-items" id="menu-items">
          <p class="menu-who">
            Signed in as <bdi>{oneLine(me.name ?? me.sender, 40)}</bdi>
          </p>
          <button type="button" onClick={freshLink}>
            Link another device
          </button>
          <button
            type="button"
            onClick={() => {
              setOpen(false)
              void session.connections().then((found) => setConnections(found ?? []))
            }}
          >
            Connections
          </button>
          <button type="button" onClick={() => void session.logout()}>
            Sign out
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
  readonly link: { readonly href: string } | { readonly problem: string }
  readonly onClose: () => void
}): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null)
  const [copied, setCopied] = useState(false)
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog ref={dialog} class="dialog" aria-labelledby="link-title" onClose={onClose}>
      <h2 id="link-title">Link another device</h2>
      {'problem' in link ? (
        <p class="tone-bad" role="alert">
          {link.problem}
        </p>
      ) : (
        <>
          <p>Open this on the other device within fifteen minutes. It works once.</p>
          <input
            class="link-field"
            readOnly
            value={link.href}
            aria-label="Link"
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
            {copied ? 'Copied' : 'Copy'}
          </button>
        )}
        <button type="button" class="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
    </dialog>
  )
}
