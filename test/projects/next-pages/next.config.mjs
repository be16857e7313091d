// The same paths as in all projects.
export default {
  rewrites: async () => [
    { source: '/webhooks', destination: '/api/webhooks' },
    { source: '/parsed', destination: '/api/parsed' },
  ],
};
