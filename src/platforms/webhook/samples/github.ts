// Events of GitHub: docs.github.com, "Webhook events and payloads".
import { JSON_TYPE, type Samples } from './sample.ts'

const repository = {
  id: 17273051,
  full_name: 'octo-org/octo-repo',
  html_url: 'https://github.com/octo-org/octo-repo',
  default_branch: 'main',
}
const sender = { login: 'octocat', id: 21031067, type: 'User' }
const headers = (event: string, delivery: string) => ({
  ...JSON_TYPE,
  'user-agent': 'GitHub-Hookshot/044aadd',
  'x-github-event': event,
  'x-github-delivery': delivery,
  'x-github-hook-id': '292430182',
})
const pull = {
  number: 12,
  state: 'open',
  title: 'Update the README with new information.',
  body: 'This is a pretty simple change that we need to pull into main.',
  html_url: 'https://github.com/octo-org/octo-repo/pull/12',
  user: sender,
  merged: false,
  head: { ref: 'changes', sha: 'ec26c3e57ca3a959ca5aad62de7213c562f8c821' },
  base: { ref: 'main', sha: 'f95f852bd8fca8fcc58a9a2d6c842781e32a215e' },
}

export const github: Samples = {
  ping: {
    headers: headers('ping', '72d3162e-cc78-11e3-81ab-4c9367dc0900'),
    body: {
      zen: 'Responsive is better than fast.',
      hook_id: 292430182,
      hook: { type: 'Repository' },
      repository,
      sender,
    },
  },
  push: {
    headers: headers('push', '72d3162e-cc78-11e3-81ab-4c9367dc0958'),
    body: {
      ref: 'refs/heads/main',
      before: '6113728f27ae82c7b1a177c8d03f9e96e0adf246',
      after: '59b20b8d5c6ff8d09518454d4dd8b7b30f095ab5',
      deleted: false,
      compare: 'https://github.com/octo-org/octo-repo/compare/6113728f27ae...59b20b8d5c6f',
      commits: [
        {
          id: '59b20b8d5c6ff8d09518454d4dd8b7b30f095ab5',
          message: 'Update README.md\n\nCloses #11',
          author: { name: 'Mona Lisa', username: 'octocat' },
        },
      ],
      pusher: { name: 'octocat' },
      repository,
      sender,
    },
  },
  pull_request: {
    headers: headers('pull_request', '72d3162e-cc78-11e3-81ab-4c9367dc0959'),
    body: { action: 'opened', number: 12, pull_request: pull, repository, sender },
  },
  pull_request_review: {
    headers: headers('pull_request_review', '72d3162e-cc78-11e3-81ab-4c9367dc0960'),
    body: {
      action: 'submitted',
      review: {
        id: 237895671,
        state: 'changes_requested',
        body: 'Please name the second section.',
        html_url: 'https://github.com/octo-org/octo-repo/pull/12#pullrequestreview-237895671',
        user: sender,
      },
      pull_request: pull,
      repository,
      sender,
    },
  },
  issue_comment: {
    headers: headers('issue_comment', '72d3162e-cc78-11e3-81ab-4c9367dc0961'),
    body: {
      action: 'created',
      issue: {
        number: 12,
        title: pull.title,
        pull_request: { url: 'https://api.github.com/repos/octo-org/octo-repo/pulls/12' },
      },
      comment: {
        id: 492700400,
        body: 'You are totally right! I will get this fixed right away.',
        html_url: 'https://github.com/octo-org/octo-repo/pull/12#issuecomment-492700400',
        user: sender,
      },
      repository,
      sender,
    },
  },
  workflow_run: {
    headers: headers('workflow_run', '72d3162e-cc78-11e3-81ab-4c9367dc0962'),
    body: {
      action: 'completed',
      workflow_run: {
        id: 289782451,
        name: 'CI',
        head_branch: 'changes',
        head_sha: 'ec26c3e57ca3a959ca5aad62de7213c562f8c821',
        conclusion: 'failure',
        html_url: 'https://github.com/octo-org/octo-repo/actions/runs/289782451',
        pull_requests: [{ number: 12 }],
      },
      repository,
      sender,
    },
  },
}
