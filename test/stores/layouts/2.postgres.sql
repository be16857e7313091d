CREATE TABLE public.webhook_delivery (
    key bytea NOT NULL,
    scope text NOT NULL,
    id text NOT NULL,
    event text NOT NULL,
    received_at timestamp with time zone NOT NULL,
    state text NOT NULL,
    fence bigint NOT NULL,
    attempts integer NOT NULL,
    failures integer NOT NULL,
    not_before timestamp with time zone NOT NULL,
    purge_at timestamp with time zone NOT NULL,
    owner text,
    lease_ms double precision,
    max_crashes double precision,
    handlers jsonb DEFAULT '{}'::jsonb NOT NULL,
    error text,
    body bytea,
    proof text,
    renewed boolean DEFAULT false NOT NULL,
    CONSTRAINT webhook_delivery_state_check CHECK ((state = ANY (ARRAY['leased'::text, 'retry'::text, 'done'::text, 'dead'::text])))
)
WITH (autovacuum_vacuum_scale_factor='0.02');
COMMENT ON TABLE public.webhook_delivery IS 'storefront-webhooks, layout 2, beside 1';
CREATE TABLE public.webhook_effect (
    key bytea NOT NULL,
    handler text NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
COMMENT ON TABLE public.webhook_effect IS 'storefront-webhooks, layout 2, beside 1';
INSERT INTO public.webhook_delivery VALUES ('\xa0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0', 'shop', 'whl_a0', 'order:paid', '2026-09-21 14:13:20+00', 'done', 1795349058550, 1, 0, '2026-11-22 12:05:18.550061+00', 'infinity', NULL, NULL, NULL, '{}', NULL, NULL, NULL, false);
INSERT INTO public.webhook_delivery VALUES ('\xe4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4', 'shop', 'whl_e4', 'order:paid', '2026-09-21 14:13:20+00', 'done', 1795349058555, 1, 0, '2026-11-22 12:05:18.555298+00', 'infinity', NULL, NULL, NULL, '{}', NULL, NULL, NULL, false);
INSERT INTO public.webhook_delivery VALUES ('\xb1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1', 'shop', 'whl_b1', 'order:paid', '2026-09-21 14:13:20+00', 'retry', 1795349058558, 1, 1, '2026-11-22 12:04:18.561137+00', 'infinity', '26eda2b1-026a-42da-8f27-f1baffc5d219', 60000, 5, '{"\"[\\\"mail\\\"]\"": "[\"sent\"]"}', 'it threw', '\x7b226964223a226f72645f31227d', NULL, false);
INSERT INTO public.webhook_delivery VALUES ('\xc2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2c2', 'shop', 'whl_c2', 'order:paid', '2026-09-21 14:13:20+00', 'dead', 1795349058563, 1, 1, '2026-11-22 12:04:18.564331+00', 'infinity', '9b37ef6d-f7ef-44e8-b2f8-677ec5970604', 60000, 5, '{}', 'it threw', '\x7b226964223a226f72645f31227d', NULL, false);
INSERT INTO public.webhook_delivery VALUES ('\xd3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3d3', 'shop', 'whl_d3', 'order:paid', '2026-09-21 14:13:20+00', 'leased', 1795349058566, 1, 0, '2026-11-22 12:02:18.566076+00', 'infinity', 'cff773ca-8496-4cba-9125-c102a9ea69b8', -120000, 5, '{}', NULL, '\x7b226964223a226f72645f31227d', 'the proof', false);
INSERT INTO public.webhook_effect VALUES ('\xf5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5', 'order:paid', '2026-11-22 12:04:18.569093+00');
ALTER TABLE ONLY public.webhook_delivery
    ADD CONSTRAINT webhook_delivery_pkey PRIMARY KEY (key);
ALTER TABLE ONLY public.webhook_effect
    ADD CONSTRAINT webhook_effect_pkey PRIMARY KEY (key, handler);
CREATE INDEX webhook_delivery_open ON public.webhook_delivery USING btree (state, key) WHERE (state <> 'done'::text);
CREATE INDEX webhook_delivery_purge_at ON public.webhook_delivery USING btree (purge_at);
