// The composer: Enter sends, Shift+Enter makes a line. Files are uploaded at once and sent with the message.
import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Filled } from '../shared/filled.tsx'
import { upload } from '../shared/http.ts'
import { ClipIcon, CloseIcon, SendIcon } from '../shared/icons.tsx'
import { formatSize, oneLine } from '../shared/text.ts'
import { keepDraft, readDraft } from './draft.ts'
import type { Entry, FileRef } from './model.ts'
import type { Me } from './session.ts'
import { words } from './words.ts'

interface Props {
  readonly me: Me
  readonly replyTo: Entry | null
  readonly onCancelReply: () => void
  readonly onSend: (text: string, files: readonly FileRef[]) => void
  readonly agent: string
  readonly suggested: Suggestion | null
}

/** A suggested text from the empty page. It is an object, so that the same one can be picked twice. */
export interface Suggestion {
  readonly text: string
}

interface Upload {
  readonly key: number
  readonly name: string
  readonly size: number
  readonly share: number
  readonly file: FileRef | null
  readonly problem: string | null
}

let nextKey = 1

export function Composer({ me, replyTo, onCancelReply, onSend, agent, suggested }: Props): JSX.Element {
  const [text, setText] = useState(() => readDraft(me))
  const [uploads, setUploads] = useState<readonly Upload[]>([])
  const [dragging, setDragging] = useState(false)
  const area = useRef<HTMLTextAreaElement>(null)
  const picker = useRef<HTMLInputElement>(null)

  useEffect(() => {
    const box = area.current
    if (box === null) return
    box.style.height = 'auto'
    box.style.height = `${Math.min(box.scrollHeight, 220)}px`
    keepDraft(me, text)
  }, [text, me])
  useEffect(() => {
    if (replyTo !== null) area.current?.focus()
  }, [replyTo])
  useEffect(() => {
    if (suggested === null) return
    setText(suggested.text)
    area.current?.focus()
  }, [suggested])

  const change = (key: number, to: Partial<Upload>): void =>
    setUploads((all) => all.map((one) => (one.key === key ? { ...one, ...to } : one)))

  const add = (files: readonly File[]): void => {
    const room = me.limits.attachments - uploads.length
    for (const [i, file] of files.entries()) {
      const key = nextKey++
      const problem =
        i >= room
          ? words.composer.tooMany({ most: me.limits.attachments })
          : file.size > me.limits.upload_bytes
            ? words.composer.tooLarge({ most: formatSize(me.limits.upload_bytes) })
            : file.size === 0
              ? words.composer.empty
              : null
      setUploads((all) => [...all, { key, name: file.name, size: file.size, share: 0, file: null, problem }])
      if (problem !== null) continue
      void upload(`/chat/upload?name=${encodeURIComponent(file.name)}`, file, (share) =>
        change(key, { share }),
      ).then((answer) =>
        change(
          key,
          answer.ok ? { share: 1, file: answer.body as unknown as FileRef } : { problem: answer.problem },
        ),
      )
    }
  }

  const ready = uploads.flatMap((one) => (one.file === null ? [] : [one.file]))
  const running = uploads.some((one) => one.file === null && one.problem === null)
  const over = text.length > me.limits.text_chars
  const can = !running && !over && (text.trim() !== '' || ready.length > 0)

  const submit = (): void => {
    if (!can) return
    onSend(text.trim() === '' ? '' : text, ready)
    setText('')
    setUploads([])
    area.current?.focus()
  }

  return (
    <form
      aria-label={words.composer.label}
      class={`composer${dragging ? ' dragging' : ''}`}
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
      onDragOver={(event) => {
        event.preventDefault()
        setDragging(true)
      }}
      onDragLeave={() => setDragging(false)}
      onDrop={(event) => {
        event.preventDefault()
        setDragging(false)
        add([...(event.dataTransfer?.files ?? [])])
      }}
    >
      {replyTo !== null && (
        <div class="replying">
          <span class="replying-text">
            <Filled
              text={words.composer.replyingTo}
              parts={{ text: <bdi>{oneLine(replyTo.text, 90)}</bdi> }}
            />
          </span>
          <button
            type="button"
            class="icon-button small"
            aria-label={words.composer.cancelReply}
            onClick={onCancelReply}
          >
            <CloseIcon />
          </button>
        </div>
      )}
      {uploads.length > 0 && (
        <ul class="uploads" aria-label={words.composer.attachments}>
          {uploads.map((one) => (
            <li key={one.key} class={one.problem === null ? 'upload' : 'upload upload-bad'}>
              <bdi class="upload-name">{oneLine(one.name, 40)}</bdi>
              {one.problem !== null ? (
                <span class="tone-bad" role="alert">
                  {one.problem}
                </span>
              ) : one.file === null ? (
                <progress
                  value={one.share}
                  max={1}
                  aria-label={words.composer.uploading({ name: oneLine(one.name) })}
                />
              ) : (
                <span class="file-size">{formatSize(one.size)}</span>
              )}
              <button
                type="button"
                class="icon-button small"
                aria-label={words.composer.remove({ name: oneLine(one.name) })}
                onClick={() => setUploads((all) => all.filter((other) => other.key !== one.key))}
              >
                <CloseIcon />
              </button>
            </li>
          ))}
        </ul>
      )}
      <div class="composer-row">
        <input
          ref={picker}
          type="file"
          multiple
          class="hidden"
          aria-label={words.composer.choose}
          tabIndex={-1}
          onChange={(event) => {
            add([...(event.currentTarget.files ?? [])])
            event.currentTarget.value = ''
          }}
        />
        <button
          type="button"
          class="icon-button"
          aria-label={words.composer.attach}
          onClick={() => picker.current?.click()}
        >
          <ClipIcon />
        </button>
        <textarea
          ref={area}
          rows={1}
          value={text}
          dir="auto"
          enterkeyhint="send"
          aria-label={words.composer.placeholder({ agent })}
          placeholder={words.composer.placeholder({ agent })}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
              event.preventDefault()
              submit()
            }
          }}
          onPaste={(event) => {
            const files = [...(event.clipboardData?.files ?? [])]
            if (files.length === 0) return
            event.preventDefault()
            add(files)
          }}
        />
        <button type="submit" class="send" disabled={!can} aria-label={words.composer.send}>
          <SendIcon />
        </button>
      </div>
      {over && (
        <p class="tone-bad composer-note" role="alert">
          {words.composer.tooLong({
            length: text.length.toLocaleString(),
            most: me.limits.text_chars.toLocaleString(),
          })}
        </p>
      )}
    </form>
  )
}
